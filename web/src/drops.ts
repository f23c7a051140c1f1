// Files that are dropped anywhere on the page: models go to step 1, everything else to step 2.

import { chooseModelFiles, chooseTaskFiles } from "./actions.ts";
import { isBusy } from "./state.ts";
import { filesFromDrop } from "./sources/source_file.ts";

export function acceptDrops(): void {
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.documentElement.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.documentElement.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.documentElement.classList.remove("dragging");
    if (event.dataTransfer === null || isBusy.value) return;
    const place = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-drop]")?.dataset["drop"] : undefined;
    void filesFromDrop(event.dataTransfer).then((files) => sort(files, place));
  });
}

function sort(files: File[], place: string | undefined): void {
  const models = files.filter(({ name }) => /\.gguf$/i.test(name));
  const others = files.filter((file) => !models.includes(file));
  // A file without a telling name goes where it was dropped: the engine says what is wrong with it.
  if (place === "model" && models.length === 0) void chooseModelFiles(others);
  else {
    if (models.length > 0) void chooseModelFiles(models);
    if (others.length > 0) void chooseTaskFiles(others);
  }
}
