// The analysis: the items of the run that is looked at, and everything that is computed from them without the model.
//
// In: items from the engine's port, from the history or synthetic; calls of protocol.ts. Out: reports, rows for the table, files,
// links. Every number comes from the engine's module; this file stores, searches and hands over. What a run has scored is
// written into the browser's history as it comes, so that a closed tab loses nothing.

import { loadModule } from "./module.ts";
import { find, rowsOf } from "./items.ts";
import type { Items } from "../wasm/evaltab.js";
import type { AnalysisCalls, AnalysisEvents, CallsOf, RunMessage } from "./protocol.ts";
import type { Calibration, CalibrationBootstrap, Comparison, FailedItem, ItemColumns, ItemDetail, ItemScore, Report, ReportOptions, RotatedRun, RotationReport, RunMeta, SyntheticProfile, Unscored } from "../types.ts";
import { DEFAULT_OPTIONS, syntheticMeta } from "../defaults.ts";
import { openHistory, type History } from "../history/runs.ts";
import { linkOfRun } from "../share/from_report.ts";
import { encodeRun } from "../share/codec.ts";
import { verify, verifyPartly } from "../share/verify.ts";

type Post = <K extends keyof AnalysisEvents>(event: K, data: AnalysisEvents[K]) => void;

/** The run that is looked at. */
interface Opened {
  meta: RunMeta;
  unscored: Unscored[];
  items: Map<number, ItemScore>;
  failed: Map<number, FailedItem>;
  is_complete: boolean;
  saved_id: string | null;
}

/** How long the page may wait to hear of new items, milliseconds. */
const TELL_MS = 250;

const missing = (message: string) => ({ kind: "internal", place: null, message });

export async function analysisCalls(post: Post): Promise<CallsOf<AnalysisCalls>> {
  const { module } = await loadModule(1);
  const history = await openHistory();
  let opened: Opened | null = null;
  let native: Items | null = null;
  /** Items that came after `native` was made. */
  let fresh: { items: ItemScore[]; failed: FailedItem[] } = { items: [], failed: [] };
  let columnsFor: { key: string; columns: ItemColumns } | null = null;
  let rotated: RotatedRun[] = [];
  let rotating: { shift: number; items: Map<number, ItemScore> } | null = null;
  let telling: ReturnType<typeof setTimeout> | null = null;
  let writing: Promise<unknown> = Promise.resolve();

  const current = (): Opened => {
    if (opened === null) throw missing("no run is open");
    return opened;
  };
  const kept = (): History => {
    if (!history.ok) throw history.error;
    return history.value;
  };
  const value = <T>(result: { ok: true; value: T } | { ok: false; error: unknown }): T => {
    if (!result.ok) throw result.error;
    return result.value;
  };

  function open(run: Opened): void {
    native?.free();
    native = null;
    opened = run;
    rotated = [];
    fresh = { items: [], failed: [] };
    columnsFor = null;
    tell();
  }

  function tell(): void {
    if (telling !== null) clearTimeout(telling);
    telling = null;
    if (opened === null) return;
    const { meta, unscored, is_complete, saved_id } = opened;
    post("changed", { meta, n_items: opened.items.size, n_failed: opened.failed.size, unscored, is_complete, saved_id });
  }

  /** The module's own copy of the items, brought up to date. */
  function items(): Items {
    const run = current();
    if (native === null) native = new module.Items(run.meta, [...run.items.values()], run.unscored, [...run.failed.values()]);
    else if (fresh.items.length + fresh.failed.length > 0) native.add(fresh.items, fresh.failed);
    fresh = { items: [], failed: [] };
    return native;
  }

  function columns(options: ReportOptions): ItemColumns {
    const run = current();
    const { rule, confidence_rule, n_bins, binning, temperature } = options;
    const key = JSON.stringify([rule, confidence_rule, n_bins, binning, temperature, run.items.size, run.is_complete]);
    if (columnsFor?.key !== key) columnsFor = { key, columns: items().columns(options) as ItemColumns };
    return columnsFor.columns;
  }

  /** Writes to the history one after another; the run does not wait for it. */
  function save(write: (history: History, id: string) => Promise<{ ok: true } | { ok: false; error: AnalysisEvents["notSaved"] }>): void {
    const run = opened;
    if (!history.ok || run === null) return;
    writing = writing.then(async () => {
      if (run.saved_id === null) return;
      const result = await write(history.value, run.saved_id);
      if (!result.ok) {
        run.saved_id = null;
        post("notSaved", result.error);
      }
    });
  }

  async function hear(message: RunMessage): Promise<void> {
    switch (message.kind) {
      case "begin": {
        if (message.rotation !== 0) {
          rotating = { shift: message.rotation, items: new Map() };
          return;
        }
        if (message.goes_on && opened !== null) return;
        const { meta, unscored } = message;
        const before = message.resume === null ? null : await kept().open(message.resume);
        const run: Opened = {
          meta,
          unscored,
          items: new Map(before?.ok ? before.value.items.map((item) => [item.index, item]) : []),
          failed: new Map(),
          is_complete: false,
          saved_id: message.resume,
          };
        open(run);
        if (history.ok && run.saved_id === null) {
          writing = writing.then(async () => {
            const id = await history.value.begin(meta, unscored);
            if (id.ok) run.saved_id = id.value;
            else post("notSaved", id.error);
          });
        }
        return;
      }
      case "step": {
        if (rotating !== null) {
          for (const item of message.items) rotating.items.set(item.index, item);
          return;
        }
        if (opened === null) return;
        for (const item of message.items) {
          opened.items.set(item.index, item);
          opened.failed.delete(item.index);
        }
        for (const failed of message.failed) {
          opened.failed.set(failed.index, failed);
          opened.items.delete(failed.index);
        }
        fresh.items.push(...message.items);
        fresh.failed.push(...message.failed);
        save((to, id) => to.append(id, message.items, message.failed));
        telling ??= setTimeout(tell, TELL_MS);
        return;
      }
      case "model_sha256":
      case "end": {
        if (rotating !== null && message.kind === "end") {
          if (message.how === "done") rotated.push({ shift: rotating.shift, items: [...rotating.items.values()] });
          rotating = null;
          tell();
          return;
        }
        if (opened === null) return;
        if (message.kind === "end") {
          opened.meta = message.meta;
          opened.is_complete = message.how === "done";
        } else if (opened.meta.model !== null) {
          opened.meta = { ...opened.meta, model: { ...opened.meta.model, file: { ...opened.meta.model.file, sha256: message.sha256 } } };
        }
        native?.set_meta(opened.meta);
        if (opened.is_complete) finish(opened);
        tell();
        return;
      }
    }
  }

  function finish({ meta }: Opened): void {
    const { headline, loglikelihood_digest } = items().report(DEFAULT_OPTIONS) as Report;
    save((to, id) => to.finish(id, meta, { headline: headline && { metric: headline.metric, value: headline.value }, loglikelihood_digest }));
  }

  /** The items of another run, made for one look; the caller frees them. */
  async function itemsOf(which: SyntheticProfile | { saved_id: string }): Promise<Items> {
    if (typeof which === "string") {
      const list = module.synthetic_profile(which) as ItemScore[];
      return new module.Items(syntheticMeta(which, list.length), list, [], []);
    }
    const { run, items: list, failed } = value(await kept().open(which.saved_id));
    return new module.Items(run.meta, list, run.unscored, failed);
  }

  return {
    connect(port) {
      // One after another: a run's beginning may have to wait for the history.
      let before: Promise<void> = Promise.resolve();
      port.onmessage = ({ data }: MessageEvent<RunMessage>) => {
        before = before.then(() => hear(data));
      };
      return null;
    },

    scored() {
      return [...current().items.values()];
    },

    openProfile(profile) {
      const list = module.synthetic_profile(profile) as ItemScore[];
      open({ meta: syntheticMeta(profile, list.length), unscored: [], items: new Map(list.map((item) => [item.index, item])), failed: new Map(), is_complete: true, saved_id: null });
      return null;
    },

    async openSaved(id) {
      await writing;
      const { run, items: list, failed } = value(await kept().open(id));
      open({
        meta: run.meta,
        unscored: run.unscored,
        items: new Map(list.map((item) => [item.index, item])),
        failed: new Map(failed.map((item) => [item.index, item])),
        is_complete: run.is_complete,
        saved_id: id,
      });
      return null;
    },

    report: (options) => items().report(options) as Report,
    bootstrap: (options) => items().bootstrap(options) as CalibrationBootstrap | null,

    async calibrationOf(which, options) {
      const other = await itemsOf(which);
      const calibration = other.calibration(options) as Calibration | null;
      other.free();
      return calibration;
    },

    find: (query, options) => find(query, current(), columns(options)),
    rows: (indices, options) => rowsOf(indices, current(), columns(options), options.rule),

    item(index, options) {
      const item = current().items.get(index);
      return item === undefined ? null : { item, detail: items().detail(index, options) as ItemDetail };
    },

    export(kind, options) {
      switch (kind) {
        case "results":
          return items().results_json(options);
        case "samples":
          return items().samples_jsonl();
        case "csv":
          return items().csv(options);
      }
    },

    async compare(savedId, rule) {
      const { items: others } = value(await kept().open(savedId));
      return items().compare(others, rule) as Comparison | null;
    },

    rotations: (rule) => (rotated.length === 0 ? null : (module.rotations([{ shift: 0, items: [...current().items.values()] }, ...rotated], rule) as RotationReport)),

    link(rows, fewshotRows, options) {
      const { meta, items: map, failed } = current();
      const report = items().report(options) as Report;
      return encodeRun(value(linkOfRun(meta, report, [...map.values()], [...failed.values()], { rows, fewshot_rows: fewshotRows })));
    },

    verify(link, positions) {
      const { items: map, failed } = current();
      const { loglikelihood_digest, engine_version } = items().report({ ...DEFAULT_OPTIONS, rule: link.outcome.rule ?? DEFAULT_OPTIONS.rule }) as Report;
      const lists = [[...map.values()], [...failed.values()]] as const;
      return positions === null ? verify(link, { items: lists[0], failed: lists[1], loglikelihood_digest, engine_version }) : verifyPartly(link, positions, ...lists);
    },

    async saved() {
      await writing;
      return value(await kept().list());
    },
    async removeSaved(id) {
      await writing;
      value(await kept().remove(id));
      return null;
    },
    async exportSaved() {
      await writing;
      return value(await kept().exportAll());
    },
    importSaved: async (file) => value(await kept().importAll(file)).n_added,
  };
}
