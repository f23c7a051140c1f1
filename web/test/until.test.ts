import { signal } from "@preact/signals";
import { describe, expect, test, vi } from "vitest";
import { until } from "../src/until.ts";

describe("until", () => {
  test("resolves at once where the condition holds, and later once it does", async () => {
    const busy = signal(false);
    await until(() => !busy.value);
    busy.value = true;
    let isOver = false;
    const waiting = until(() => !busy.value).then(() => (isOver = true));
    await Promise.resolve();
    expect(isOver).toBe(false);
    busy.value = false;
    await waiting;
  });

  test("does not wait longer than it is told, and no longer looks afterwards", async () => {
    vi.useFakeTimers();
    const busy = signal(true);
    const look = vi.fn(() => !busy.value);
    const waiting = until(look, 400);
    vi.advanceTimersByTime(400);
    await waiting;
    expect(look).toHaveBeenCalledTimes(1);
    busy.value = false;
    expect(look).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });

  test("ends before its time where the condition comes first", async () => {
    vi.useFakeTimers();
    const busy = signal(true);
    const waiting = until(() => !busy.value, 400);
    busy.value = false;
    await waiting;
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});
