// Bytes as text and small numbers as bytes: base64url without padding, and lists of k-bit numbers.
//
// Source: RFC 4648, section 5 (base64url).

/** Base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  // In pieces: an argument list of a megabyte overflows the stack.
  for (let start = 0; start < bytes.length; start += 8192) binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes, or null where the text is not base64url (padding and whitespace are not). */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Numbers below 2^`width` one after another, lowest bit first; the last byte is filled with zeros. */
export function packBits(values: readonly number[], width: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((values.length * width) / 8));
  values.forEach((value, i) => {
    for (let bit = 0; bit < width; bit++) {
      const at = i * width + bit;
      const byte = at >> 3;
      bytes[byte] = (bytes[byte] ?? 0) | (((value >> bit) & 1) << (at & 7));
    }
  });
  return bytes;
}

/** The inverse of `packBits`: `n` numbers of `width` bits. `bytes` must hold them. */
export function unpackBits(bytes: Uint8Array, width: number, n: number): number[] {
  return Array.from({ length: n }, (_, i) => {
    let value = 0;
    for (let bit = 0; bit < width; bit++) {
      const at = i * width + bit;
      value |= (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) << bit;
    }
    return value;
  });
}
