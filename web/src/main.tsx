// The page: three steps, then the report that they make.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ModelStep } from "./views/model.tsx";
import { TaskStep } from "./views/task.tsx";
import { RunStep } from "./views/run.tsx";
import { Overview } from "./views/overview.tsx";
import { BreakdownView } from "./views/breakdown.tsx";
import { CalibrationView } from "./views/calibration.tsx";
import { BiasView } from "./views/bias.tsx";
import { PublishedView } from "./views/published.tsx";
import { ComparisonView } from "./views/comparison.tsx";
import { ProtocolView } from "./views/protocol.tsx";
import { ItemsView } from "./views/items.tsx";
import { Drawer } from "./views/drawer.tsx";
import { Downloads } from "./views/downloads.tsx";
import { IncomingView, ShareView } from "./views/link.tsx";
import { HistoryView } from "./views/history.tsx";
import { Footer, Header } from "./views/frame.tsx";
import { acceptDrops } from "./drops.ts";
import { start } from "./actions.ts";
import { watchAddress } from "./actions_link.ts";
import * as state from "./state.ts";
import { text } from "./text.ts";
import "./style.css";

/** Inside another page ("?embed=1"): only the steps and the report. */
const isEmbedded = new URLSearchParams(location.search).get("embed") === "1";

function Page() {
  return (
    <>
      <a class="skip" href="#report">
        {text.skip}
      </a>
      {!isEmbedded && <Header />}
      <main>
        <IncomingView />
        <div class="steps">
          <ModelStep />
          <TaskStep />
          <RunStep />
        </div>
        <Report />
        {!isEmbedded && <HistoryView />}
      </main>
      {!isEmbedded && <Footer />}
      <Drawer />
      <p class="visually-hidden" role="status">
        {state.announcement.value}
      </p>
    </>
  );
}

const SECTIONS = [Overview, PublishedView, ComparisonView, BreakdownView, CalibrationView, BiasView, ItemsView, ProtocolView, ShareView, Downloads];

/** One section after another, each in a task of its own: a large run opens without a pause in which the page is deaf. */
function Report() {
  const isShown = state.hasItems.value && state.report.value !== null;
  const [n, setN] = useState(0);
  useEffect(() => {
    if (!isShown || n >= SECTIONS.length) return;
    const timer = setTimeout(() => setN(n + 1));
    return () => clearTimeout(timer);
  }, [isShown, n]);
  return (
    <div id="report" tabIndex={-1}>
      {isShown && SECTIONS.slice(0, n).map((Section, i) => <Section key={i} />)}
    </div>
  );
}

const root = document.getElementById("page");
if (root === null) throw new Error("the page has no element named page");
render(<Page />, root);
acceptDrops();
watchAddress();
void start();
