// One item in full: the prompt as tokens, every choice with its tokens and its scores by every rule, and the prompt to play with.

import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Field, Problem } from "./parts.tsx";
import { DataTable } from "./figure.tsx";
import { fixed, FLAGS, percent, RULES } from "../text.ts";
import { drawer as words } from "../text_report.ts";
import * as state from "../state.ts";
import { closeItem, rescore, step } from "../actions.ts";
import type { ChoiceDetail, ChoiceScore, DocView, ItemScore } from "../types.ts";
import type { ItemView } from "../worker/protocol.ts";
import type { TokenView } from "../types.ts";

export function Drawer() {
  const isOpen = useComputed(() => state.opened.value !== null);
  return isOpen.value ? <OpenDrawer /> : null;
}

function OpenDrawer() {
  const dialog = useRef<HTMLDialogElement>(null);
  const showsIds = useSignal(false);
  useEffect(() => dialog.current?.showModal(), []);
  const { value: opened } = state.opened;
  if (opened === null) return null;
  const { index, view, doc, rescored, error } = opened;
  const failure = state.rows.value.get(index)?.error ?? null;
  return (
    <dialog class="drawer" ref={dialog} aria-labelledby="drawer-heading" onClose={closeItem} onKeyDown={onKeyDown}>
      <div class="drawer-body">
        <header class="drawer-head">
          <h2 id="drawer-heading">
            {words.label(view?.item.line ?? state.rows.value.get(index)?.line ?? index + 1)}
          </h2>
          <div class="controls">
            <button type="button" class="quiet" aria-label={words.previous} title={words.previous} onClick={() => step(-1)}>
              ↑
            </button>
            <button type="button" class="quiet" aria-label={words.next} title={words.next} onClick={() => step(1)}>
              ↓
            </button>
            <button type="button" class="quiet" aria-label={words.close} title={words.close} onClick={closeItem}>
              ×
            </button>
          </div>
        </header>
        {failure !== null && <p class="problem">{failure}</p>}
        {view !== null && (
          <>
            <Summary view={view} />
            <label class="check">
              <input type="checkbox" checked={showsIds.value} onChange={({ currentTarget }) => (showsIds.value = currentTarget.checked)} /> {words.ids}
            </label>
            {doc === null ? <p class="hint">{words.noPrompt}</p> : <Prompt key={index} doc={doc} item={view.item} showsIds={showsIds} />}
            <Choices view={view} doc={doc} showsIds={showsIds} />
            {doc !== null && <Edit key={`edit ${index}`} doc={doc} view={view} rescored={rescored} />}
            {error !== null && <Problem error={error} />}
          </>
        )}
      </div>
    </dialog>
  );
}

function onKeyDown({ key, target }: KeyboardEvent): void {
  if (target instanceof HTMLTextAreaElement) return;
  if (key === "j") step(1);
  else if (key === "k") step(-1);
}

function Summary({ view: { item, detail } }: { view: ItemView }) {
  const chosen = state.options.value.rule;
  const verdict = detail.picks.find(({ rule }) => rule === chosen) ?? detail.picks[0];
  const [only] = item.choices;
  const isRight = verdict?.is_correct ?? only?.is_greedy;
  return (
    <>
      <p class="numbers">
        {isRight !== undefined && <span class={isRight ? "is-right" : "is-wrong"}>{isRight ? words.right : words.wrong}</span>}
        {verdict?.is_tied === true && <span>{words.tied}</span>}
        <span>{item.category ?? item.task}</span>
        <span>{words.contextTokens(item.n_context_tokens)}</span>
        <span>{words.precision[item.precision]}</span>
      </p>
      <p class="drawer-question">{item.question}</p>
      {item.flags.length > 0 && (
        <>
          <h3>{words.flags}</h3>
          <ul>
            {item.flags.map((flag) => (
              <li key={flag}>
                <strong>{FLAGS[flag].name}</strong>: {FLAGS[flag].gloss}.
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** More tokens than this are drawn only when asked for: a prompt of five shots has thousands. */
const N_TOKENS_SHOWN = 300;

function Prompt({ doc, item, showsIds }: { doc: DocView; item: ItemScore; showsIds: Signal<boolean> }) {
  const isWhole = useSignal(doc.context.length <= N_TOKENS_SHOWN);
  const first = isWhole.value ? 0 : doc.context.length - N_TOKENS_SHOWN;
  const gold = item.gold[0] ?? 0;
  return (
    <section class="subsection" aria-label={words.prompt}>
      <h3>{words.prompt}</h3>
      <p class="hint">{words.promptHint}</p>
      {!isWhole.value && (
        <p class="hint">
          {words.cut(first)}.{" "}
          <button type="button" class="quiet" onClick={() => (isWhole.value = true)}>
            {words.showAll(doc.context.length)}
          </button>
        </p>
      )}
      <p class="tokens context" tabIndex={0}>
        {doc.context.slice(first).map((token, i) => (
          <Token key={i} token={token} logprob={null} showsId={showsIds.value} />
        ))}
        <span class="boundary" role="img" aria-label={words.join} title={words.join} />
        {(doc.continuations[gold] ?? []).map((token, i) => (
          <Token key={i} token={token} logprob={item.choices[gold]?.token_logprobs[i] ?? null} showsId={showsIds.value} />
        ))}
      </p>
    </section>
  );
}

/** At this many nats a token is as dark as it gets: less than one in a hundred. */
const DARKEST = 5;

function Token({ token, logprob, showsId }: { token: TokenView; logprob: number | null; showsId: boolean }) {
  const shade = logprob === null ? {} : { title: words.token(logprob), style: { "--surprise": Math.min(1, -logprob / DARKEST) } };
  return (
    <>
      <span class={logprob === null ? "token" : "token scored"} {...shade}>
        {visible(token.text)}
        {showsId && <small>{token.id}</small>}
      </span>
      {token.text.includes("\n") && <br />}
    </>
  );
}

/** Line breaks and tabs are tokens like others: they are shown; the break itself follows the token. */
const visible = (text: string): string => text.replaceAll("\t", "⇥").replaceAll("\n", "↵");

function Choices({ view: { item, detail }, doc, showsIds }: { view: ItemView; doc: DocView | null; showsIds: Signal<boolean> }) {
  const rules = detail.picks.map(({ rule }) => rule);
  const letter = (i: number): string => detail.choices[i]?.letter ?? String(i + 1);
  return (
    <section class="subsection" aria-label={words.choices}>
      <h3>{words.choices}</h3>
      <p class="hint">{words.legend}</p>
      <ol class="choice-list">
        {item.choices.map((choice, i) => (
          <li key={i}>
            <Choice choice={choice} detail={detail.choices[i] ?? null} tokens={doc?.continuations[i] ?? null} showsIds={showsIds.value} />
          </li>
        ))}
      </ol>
      {detail.choices.length > 0 && (
        <>
          <div class="scroll" role="region" aria-label={words.scores} tabIndex={0}>
            <table class="data">
              <caption>{words.scores}</caption>
              <thead>
                <tr>
                  <th scope="col">{words.choice}</th>
                  {rules.map((rule) => (
                    <th key={rule} scope="col" title={RULES[rule].gloss}>
                      {RULES[rule].name}
                    </th>
                  ))}
                  <th scope="col">{words.probability}</th>
                </tr>
              </thead>
              <tbody>
                {detail.choices.map(({ letter: name, scores, probability }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    {rules.map((rule) => {
                      const score = scores.find((candidate) => candidate.rule === rule);
                      const shown = score === undefined ? "" : score.score === null ? "−∞" : fixed(score.score);
                      return <td key={rule}>{score?.is_pick === true ? <strong>{shown}</strong> : shown}</td>;
                    })}
                    <td>{percent(probability)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <DataTable caption={words.verdicts} columns={words.verdictColumns} rows={detail.picks.map((pick) => [RULES[pick.rule].name, letter(pick.pick), words.verdict(pick)])} />
        </>
      )}
    </section>
  );
}

interface ChoiceProps {
  choice: ChoiceScore;
  detail: ChoiceDetail | null;
  /** The scored tokens as text; null where the model is gone and only their ids are known. */
  tokens: TokenView[] | null;
  showsIds: boolean;
}

function Choice({ choice, detail, tokens, showsIds }: ChoiceProps) {
  const chosen = state.options.value.rule;
  const isPick = detail?.scores.some(({ rule, is_pick }) => rule === chosen && is_pick) ?? false;
  return (
    <div class="subsection">
      <p>
        {detail !== null && <strong>{detail.letter}</strong>} {choice.text !== detail?.letter && choice.text} {detail?.is_gold === true && <span class="tag">✓ {words.gold}</span>} {isPick && <span class="tag">▸ {words.pick}</span>}
      </p>
      <p class="tokens">
        {choice.token_ids.map((id, i) => (
          <Token key={i} token={tokens?.[i] ?? { id, text: tokens === null ? `#${id}` : "" }} logprob={choice.token_logprobs[i] ?? null} showsId={showsIds} />
        ))}
      </p>
      <p class="hint">
        {words.loglikelihood} {fixed(choice.loglikelihood)}; {words.lengths(choice)}.{choice.is_greedy && ` ${words.greedy}`}
      </p>
    </div>
  );
}

function Edit({ doc: { doc }, view: { item, detail }, rescored }: { doc: DocView; view: ItemView; rescored: ItemScore | null }) {
  const context = doc.requests[0]?.context ?? "";
  const letter = (i: number): string => detail.choices[i]?.letter ?? "";
  return (
    <details class="more">
      <summary>{words.edit}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const text = (name: string): string => {
            const value = data.get(name);
            // A form sends line breaks as CR LF; the prompt has none of these.
            return typeof value === "string" ? value.replaceAll("\r\n", "\n") : "";
          };
          void rescore(
            text("context"),
            doc.requests.map((_, i) => text(`continuation-${i}`)),
          );
        }}
      >
        <Field label={words.context}>
          <textarea name="context" rows={8} defaultValue={context} spellcheck={false} />
        </Field>
        {doc.requests.map(({ continuation }, i) => (
          <Field key={i} label={words.continuation(letter(i))}>
            <textarea name={`continuation-${i}`} rows={1} defaultValue={continuation} spellcheck={false} />
          </Field>
        ))}
        <button type="submit" disabled={state.isBusy.value}>
          {words.rescore}
        </button>
        <p class="hint">{words.notStored}</p>
      </form>
      {rescored !== null && <Rescored before={item} now={rescored} letter={letter} />}
    </details>
  );
}

function Rescored({ before, now, letter }: { before: ItemScore; now: ItemScore; letter: (i: number) => string }) {
  const chosen = state.options.value.rule;
  const pickOf = ({ picks }: ItemScore): string | null => {
    const pick = picks.find(({ rule }) => rule === chosen) ?? picks[0];
    return pick === undefined ? null : letter(pick.pick);
  };
  const [was, is] = [pickOf(before), pickOf(now)];
  return (
    <div role="status">
      <DataTable
        caption={words.rescored}
        columns={words.rescoredColumns}
        rows={now.choices.map(({ loglikelihood }, i) => {
          const old = before.choices[i]?.loglikelihood;
          return [letter(i), old === undefined ? "" : fixed(old), fixed(loglikelihood)];
        })}
      />
      {was !== null && is !== null && <p>{words.rescoredPick(was, is)}</p>}
    </div>
  );
}
