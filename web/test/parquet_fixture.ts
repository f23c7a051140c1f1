// A parquet file as Hugging Face's data sets store pictures: a struct of raw bytes and a path beside the questions.

import { parquetWriteBuffer } from "hyparquet-writer";
import { minimalStandard } from "./share_fixture.ts";

/** `n` rows {question, picture: {bytes, path}, answer}; a picture is `nBytes` that do not compress. */
export function parquetWithPictures(n: number, nBytes: number): Uint8Array {
  const random = minimalStandard(5);
  const rows = Array.from({ length: n }, (_, i) => i);
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "question", data: rows.map((i) => `What is on picture ${i}?`) },
      { name: "picture", data: rows.map((i) => ({ bytes: Uint8Array.from({ length: nBytes }, () => Math.floor(random() * 256)), path: `${i}.png` })) },
      { name: "answer", data: rows.map((i) => i % 4) },
    ],
    schema: [
      { name: "root", num_children: 3 },
      { name: "question", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "picture", num_children: 2, repetition_type: "REQUIRED" },
      { name: "bytes", type: "BYTE_ARRAY", repetition_type: "REQUIRED" },
      { name: "path", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "answer", type: "INT32", repetition_type: "REQUIRED" },
    ],
  });
  return new Uint8Array(buffer);
}
