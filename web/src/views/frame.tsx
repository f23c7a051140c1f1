// What stands above and below everything.

import { text } from "../text.ts";
import * as state from "../state.ts";
import { update } from "../actions.ts";

export function Header() {
  return (
    <header class="masthead">
      <div class="wordmark">
        <h1>{text.title}</h1>
        <p>{text.tagline}</p>
      </div>
      <p class="intro">{text.intro}</p>
    </header>
  );
}

export function Footer() {
  const { value: isolation } = state.isolation;
  return (
    <footer class="foot">
      <p>
        {state.engine.value !== null && `evaltab ${state.engine.value.version}. `}
        {isolation !== null && !isolation.isolated && `${text.isolation[isolation.reason]} `}
        {state.bytesSent.value !== null && `${text.sent(state.bytesSent.value)} `}
        {state.worksOffline.value && `${text.offline} `}
        {text.run.devtools}
      </p>
      {state.updateWaits.value && (
        <p>
          {text.updateWaits}{" "}
          <button type="button" class="quiet" disabled={state.isBusy.value} onClick={update}>
            {text.update}
          </button>
        </p>
      )}
    </footer>
  );
}
