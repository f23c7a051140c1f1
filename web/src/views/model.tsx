// Step 1: which model.

import { Address, Bar, FilePicker, Offered, Problem, Step } from "./parts.tsx";
import { bytes, parameters, text } from "../text.ts";
import * as state from "../state.ts";
import { chooseCatalogModel, chooseModelFiles, chooseModelUrl, loadChosenModel, stopDownload } from "../actions.ts";

export function ModelStep() {
  const { value } = state.model;
  const busy = state.isBusy.value;
  const entry = value.kind === "chosen" ? value.entry : null;
  return (
    <Step number={1} name="model" heading={text.model.heading} takesDrops>
      <Offered
        label={text.model.served}
        entries={state.catalog.value}
        keyOf={({ url }) => url}
        nameOf={({ name, n_bytes }) => (n_bytes === null ? name : `${name} (${bytes(n_bytes)})`)}
        chosen={entry}
        own={nameOf(value)}
        disabled={busy}
        onChoose={chooseCatalogModel}
      />
      {entry !== null && (
        <p class="hint">
          {[entry.note, entry.license].filter((part) => part !== null).join(" · ")}{" "}
          <button type="button" class="quiet" disabled={busy} onClick={() => void loadChosenModel()}>
            {text.model.load}
          </button>
        </p>
      )}
      <Status />
      <FilePicker label={text.model.file} hint={text.model.drop} accept=".gguf" multiple disabled={busy} onFiles={(files) => void chooseModelFiles(files)} />
      <details class="more">
        <summary>{text.model.address}</summary>
        <Address label={text.model.url} action={text.model.open} placeholder="https://…/model.gguf" disabled={busy} onAddress={(address) => void chooseModelUrl(address)} />
      </details>
    </Step>
  );
}

function nameOf(value: state.ModelPhase): string {
  switch (value.kind) {
    case "none":
      return "";
    case "chosen":
      return value.entry.name;
    case "downloading":
    case "loading":
    case "failed":
      return value.name;
    case "ready":
      return value.file.name;
  }
}

function Status() {
  const { value } = state.model;
  switch (value.kind) {
    case "none":
    case "chosen":
      return null;
    case "failed":
      return <Problem error={value.error} name={value.name} />;
    case "downloading": {
      const { progress } = value;
      const share = progress?.n_bytes_total ? progress.n_bytes_done / progress.n_bytes_total : null;
      return (
        <div class="working">
          <Bar value={share} label={text.model.downloading} />
          <p class="hint">
            {text.model.downloading} {value.name}
            {progress !== null && `: ${text.model.downloaded(progress)}`}{" "}
            <button type="button" class="quiet" onClick={stopDownload}>
              {text.model.cancel}
            </button>
          </p>
        </div>
      );
    }
    case "loading":
      return (
        <div class="working">
          <Bar value={value.total_bytes === 0 ? null : value.n_bytes / value.total_bytes} label={text.model.loading} />
          <p class="hint">
            {text.model.loading} {value.name}
          </p>
        </div>
      );
    case "ready": {
      const { info, file } = value;
      const { facts } = text.model;
      return (
        <dl class="facts">
          <Fact name={facts.architecture} value={text.model.shape(info)} />
          <Fact name={facts.parameters} value={parameters(info.n_params)} />
          <Fact
            name={facts.quantisation}
            value={Object.entries(info.n_params_by_type)
              .sort(([, a], [, b]) => b - a)
              .map(([type, n]) => `${type} ${((100 * n) / info.n_params).toFixed(n / info.n_params > 0.01 ? 0 : 2)}\u202F%`)
              .join(" · ")}
          />
          <Fact name={facts.context} value={text.model.window(info.n_ctx)} />
          <Fact name={facts.tokenizer} value={info.tokenizer} />
          <Fact name={facts.memory} value={text.model.memory(info.n_weight_bytes, file.size)} />
          <Fact name={facts.engine} value={text.model.engine(info.engine, state.engine.value?.n_threads ?? 1)} />
          {state.whyMemory.value !== null && <Fact name={facts.kept} value={text.model.whyMemory[state.whyMemory.value]} />}
          <div>
            <dt>{facts.sha256}</dt>
            <dd class="hash">{state.modelSha256.value ?? text.model.hashing}</dd>
          </div>
        </dl>
      );
    }
  }
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);
