// The protocol card: what to paste under a number.

import { useState } from "preact/hooks";
import { protocol as words } from "../text_report.ts";
import * as state from "../state.ts";

export function ProtocolView() {
  const protocol = state.report.value?.protocol ?? null;
  const [copied, setCopied] = useState<{ paragraph: string; ok: boolean } | null>(null);
  if (protocol === null) return null;
  const { paragraph, facts } = protocol;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(paragraph);
      setCopied({ paragraph, ok: true });
    } catch {
      // No permission, or a page without the right to the clipboard: the text itself can still be selected.
      setCopied({ paragraph, ok: false });
    }
  };
  return (
    <section class="report-section" aria-labelledby="protocol">
      <h2 id="protocol">{words.heading}</h2>
      <p class="hint">{words.intro}</p>
      <blockquote class="card">{paragraph}</blockquote>
      <p class="controls">
        <button type="button" onClick={() => void copy()}>
          {words.copy}
        </button>
        {/* What was copied a moment ago says nothing of a paragraph that has changed since. */}
        <span role="status">{copied?.paragraph === paragraph && (copied.ok ? words.copied : words.notCopied)}</span>
      </p>
      <details class="more">
        <summary>{words.facts}</summary>
        <dl class="facts">
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
