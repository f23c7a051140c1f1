// The engine: a model, a task and the run of one on the other.
//
// In: calls of protocol.ts. Out: replies, progress to the page, scored items to the analysis. A run is a loop of batches that
// lets messages in between two of them; pause and cancel wait for the batch that is under way, never for the run.

import { loadModule } from "./module.ts";
import type { Model, Run, Task } from "../wasm/evaltab.js";
import type { CallsOf, EngineCalls, EngineEvents, EvalErrorLike, RunEnd, RunMessage, RunProgress } from "./protocol.ts";
import type { DocView, ExportFile, ItemScore, LoadStep, ModelInfo, Phase, Prepared, PresetInfo, RunMeta, RunSpec, Step, TaskInfo, Unscored } from "../types.ts";
import { openHistory } from "../history/runs.ts";

type Post = <K extends keyof EngineEvents>(event: K, data: EngineEvents[K]) => void;

/** More helpers than this bring nothing for models that fit a tab. */
const MAX_THREADS = 8;
/** Over which the speed is measured, milliseconds. */
const SPEED_WINDOW_MS = 10_000;

const fault = (kind: string, message: string): EvalErrorLike => ({ kind, place: null, message });

/** All that a doc gives the model to read, in whatever order its choices stand. */
const textsOf = ({ doc }: DocView): string => JSON.stringify(doc.requests.map(({ context, continuation }) => context + continuation).sort());

/** Lets messages in: a macrotask, without the delay that browsers put into nested timers. */
const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

export async function engineCalls(post: Post): Promise<CallsOf<EngineCalls>> {
  const { module, n_threads, startHelper } = await loadModule(Math.min(MAX_THREADS, navigator.hardwareConcurrency));
  const { ModelLoader } = module;
  let analysis: MessagePort | null = null;
  let alarm: SharedArrayBuffer | null = null;
  let model: Model | null = null;
  let task: Task | null = null;
  let run: Run | null = null;
  let control: { paused: boolean; cancelled: boolean; wake: () => void } | null = null;
  let modelSha256: string | null = null;
  let loads = 0;
  /** The run's settings, and where its first doc stands among the docs and among the rows. */
  let asked: { spec: RunSpec; position: number; index: number } | null = null;

  const tell = (message: RunMessage): void => analysis?.postMessage(message);

  function dropRun(): void {
    run?.free();
    run = null;
  }

  return {
    connect(port, shared) {
      analysis = port;
      alarm = shared ?? (startHelper === null ? null : new SharedArrayBuffer(4));
      return { version: module.version(), n_threads, presets: module.presets() as PresetInfo[] };
    },

    async loadModel(files, name, engine) {
      const load = ++loads;
      dropRun();
      // Two models at once would not fit: the old one goes first.
      model?.free();
      model = null;
      modelSha256 = null;
      const reader = new FileReaderSync();
      const file = files.length === 1 && files[0] !== undefined ? files[0] : new Blob([...files]);
      const source = {
        size: file.size,
        part_sizes: files.map((part) => part.size),
        read: (offset: number, length: number) => new Uint8Array(reader.readAsArrayBuffer(file.slice(offset, offset + length))),
      };
      const loader = new ModelLoader(source, name, engine, n_threads);
      let told = 0;
      for (;;) {
        const step = loader.step() as LoadStep;
        if (step.done) break;
        if (performance.now() - told < 50) continue;
        told = performance.now();
        post("loading", step);
        await breathe();
        if (load !== loads) {
          loader.free();
          throw fault("io", "another model was chosen");
        }
      }
      model = loader.finish();
      for (let helper = 1; helper < n_threads; helper++) {
        const pool = model.thread_pool();
        if (pool !== undefined && alarm !== null) startHelper?.(pool, alarm);
      }
      return model.info() as ModelInfo;
    },

    setTask(data, fewshot) {
      const next = new module.Task(data.name, data.bytes, fewshot?.name, fewshot?.bytes);
      dropRun();
      task?.free();
      task = next;
      return null;
    },

    taskInfo(spec) {
      if (task === null) throw fault("task_format", "there is no task yet");
      return (model === null ? task.info(spec) : task.info_with(spec, model)) as TaskInfo;
    },

    addInclude(name, text) {
      if (task === null) throw fault("task_format", "there is no task yet");
      task.add_include(name, text);
      return null;
    },

    exportTask(harness, spec) {
      if (task === null || model === null) throw fault("task_format", "an export needs a task, and a model for its tokenizer");
      return task.export_for(harness, spec, model) as ExportFile[];
    },

    async run(request) {
      if (model === null || task === null) throw fault("run_spec", "a run needs a model and a task");
      if (control !== null) throw fault("run_spec", "a run is under way");
      if (request.rotation === 0) dropRun();
      const current = new module.Run(model, task, request.spec, request.only === null ? undefined : Uint32Array.from(request.only), request.rotation);
      // The run that is looked at stays; a probe goes as it came.
      if (request.rotation === 0) {
        run = current;
        asked = { spec: request.spec, position: request.only?.[0] ?? 0, index: Infinity };
      }
      modelSha256 ??= request.provenance.model_sha256;
      if (request.resume !== null) {
        const history = await openHistory();
        const saved = history.ok ? await history.value.open(request.resume) : history;
        if (!saved.ok) throw saved.error;
        current.restore(saved.value.items);
      }
      if (request.scored !== null) current.restore(request.scored);
      const clock = runClock();
      const meta = (): RunMeta => {
        const { model_url, data_url, fewshot_url, machine } = request.provenance;
        const known = { model_sha256: modelSha256, model_url, data_url, fewshot_url, machine, started_at: clock.started_at, seconds: clock.seconds(), n_threads };
        current.set_provenance(known);
        return current.meta() as RunMeta;
      };
      const state = { paused: false, cancelled: false, wake: (): void => undefined };
      control = state;
      try {
        tell({ kind: "begin", meta: meta(), unscored: current.unscored() as Unscored[], rotation: request.rotation, resume: request.resume, goes_on: request.scored !== null });
        const end = await loop(current, state, clock, (index) => {
          if (current === run && asked !== null) asked.index = Math.min(asked.index, index);
        });
        tell({ kind: "end", meta: meta(), how: end });
        return end;
      } finally {
        if (request.rotation !== 0) current.free();
        control = null;
      }
    },

    pause() {
      if (control !== null) control.paused = true;
      return null;
    },

    resume() {
      if (control !== null) control.paused = false;
      control?.wake();
      return null;
    },

    cancel() {
      if (control !== null) control.cancelled = true;
      control?.wake();
      return null;
    },

    setModelSha256(sha256) {
      modelSha256 = sha256;
      run?.set_provenance({ model_sha256: sha256 });
      tell({ kind: "model_sha256", sha256 });
      return null;
    },

    export(kind, options) {
      if (run === null) throw fault("run_spec", "the run is gone");
      return kind === "results" ? run.results_json(options) : run.samples_jsonl();
    },

    docView(index) {
      if (run === null) throw fault("run_spec", "the run is gone");
      const view = run.doc_view(index) as DocView | null;
      if (view === null) throw fault("internal", `row ${index} has no doc`);
      return view;
    },

    rotationMatters() {
      if (model === null || task === null || run === null || asked === null) throw fault("run_spec", "the run is gone");
      const { spec, position, index } = asked;
      let rotated: Run | null = null;
      try {
        rotated = new module.Run(model, task, spec, Uint32Array.of(position), 1);
        const [before, after] = [run, rotated].map((each) => each.doc_view(index) as DocView | null);
        return before == null || after == null || textsOf(before) !== textsOf(after);
      } catch {
        // The rows have no list of choices that could be rotated.
        return false;
      } finally {
        rotated?.free();
      }
    },

    rescore(index, context, continuations) {
      if (run === null) throw fault("run_spec", "the run is gone");
      return run.rescore(index, context, continuations) as ItemScore;
    },
  };

  async function loop(current: Run, state: { paused: boolean; cancelled: boolean; wake: () => void }, clock: RunClock, onDoc: (index: number) => void): Promise<RunEnd> {
    let isPrepared = false;
    for (;;) {
      await breathe();
      if (state.paused && !state.cancelled) {
        clock.stop();
        await new Promise<void>((resolve) => (state.wake = resolve));
        clock.start();
        continue;
      }
      if (state.cancelled) return "cancelled";
      const step = current.step() as Step;
      if (!isPrepared && step.phase !== "encode") {
        isPrepared = true;
        post("prepared", current.prepared() as Prepared);
      }
      for (const { index } of [...step.items, ...step.failed]) onDoc(index);
      if (step.items.length > 0 || step.failed.length > 0) tell({ kind: "step", items: step.items, failed: step.failed });
      post("progress", clock.progress(step));
      if (step.phase === "done") return "done";
    }
  }
}

type RunClock = ReturnType<typeof runClock>;

/** Time that a run took, pauses left out, and the speed that follows from its steps. */
function runClock() {
  const started_at = Date.now() / 1000;
  let spent = 0;
  let since: number | null = performance.now();
  const now = (): number => spent + (since === null ? 0 : performance.now() - since);
  let marks: { at: number; n_tokens: number }[] = [];
  let phase: Phase | null = null;
  let before = 0;
  return {
    started_at,
    seconds: () => now() / 1000,
    stop() {
      spent = now();
      since = null;
    },
    start() {
      since = performance.now();
    },
    progress(step: Step): RunProgress {
      const at = now();
      // A phase counts its own tokens; the sum goes on.
      if (step.phase !== phase) {
        phase = step.phase;
        before = step.n_tokens_done;
        marks = [];
      }
      marks.push({ at, n_tokens: step.n_tokens_done });
      while (marks.length > 2 && at - (marks[0]?.at ?? at) > SPEED_WINDOW_MS) marks.shift();
      const first = marks[0];
      const speed = first === undefined || at - first.at < 200 ? null : (1000 * (step.n_tokens_done - first.n_tokens)) / (at - first.at);
      const left = speed === null || speed <= 0 ? null : Math.max(0, step.n_tokens_total - (step.n_tokens_done - before)) / speed;
      const { n_done, n_total, n_tokens_done, n_tokens_total } = step;
      return { phase: step.phase, n_done, n_total, n_tokens_done, n_tokens_total, tokens_per_second: speed, seconds_left: left };
    },
  };
}
