// A chart with what belongs to it: the table twin and the two files it can be saved as.

import { useEffect, useId, useState } from "preact/hooks";
import { ChartView, chartPng, chartSvg, type ChartViewProps } from "../charts/ChartView.tsx";
import { saveFile } from "../actions.ts";
import { ColumnHeads } from "./parts.tsx";
import { figures } from "../state.ts";
import { figure } from "../text_report.ts";
import "./report.css";

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

interface FigureProps extends ChartViewProps {
  /** Names the table and the files. */
  name: string;
  table: Table;
}

export function Figure({ name, table, ...chart }: FigureProps) {
  const file = name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  const { scene, label } = chart;
  // A closed table is not worth its rows: a report may be new several times a second.
  const [isOpen, setOpen] = useState(false);
  // The report as a file takes the charts that stand on the page; a change of one keeps its place among them.
  useEffect(() => void figures.set(name, { svg: () => chartSvg(scene, label).text() }), [name, scene, label]);
  useEffect(() => () => void figures.delete(name), [name]);
  return (
    <figure class="figure">
      <ChartView {...chart} />
      <figcaption class="figure-tools">
        <details class="more" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{figure.table}</summary>
          {isOpen && <DataTable caption={name} {...table} />}
        </details>
        <span class="figure-files">
          <button
            type="button"
            class="quiet"
            aria-label={figure.save(name, figure.png)}
            onClick={async () => {
              const png = await chartPng(scene);
              if (png !== null) saveFile(`${file}.png`, png);
            }}
          >
            {figure.png}
          </button>
          <button type="button" class="quiet" aria-label={figure.save(name, figure.svg)} onClick={() => saveFile(`${file}.svg`, chartSvg(scene, label))}>
            {figure.svg}
          </button>
        </span>
      </figcaption>
    </figure>
  );
}

/** A plain table whose first cell names its row; wide ones scroll in their own box. */
export function DataTable({ caption, columns, rows }: Table & { caption: string }) {
  const id = useId();
  return (
    <div class="scroll" role="region" aria-labelledby={id} tabIndex={0}>
      <table class="data">
        <caption id={id}>{caption}</caption>
        <ColumnHeads columns={columns} />
        <tbody>
          {rows.map(([head, ...cells], row) => (
            <tr key={row}>
              <th scope="row">{head}</th>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
