/** How many bytes are turned into text at once: a multiple of three, lest there be padding in between. */
const PART = 24_576

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.length; from += PART) {
    text += btoa(String.fromCharCode(...bytes.subarray(from, from + PART)))
  }
  return text
}

/** Throws where the text is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
