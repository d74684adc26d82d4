let writer: string | undefined
let writes = 0

/** A mark that no other write has, in this tab or another. */
export function newEtag(): string {
  writer ??= [...crypto.getRandomValues(new Uint32Array(2))].map((part) => part.toString(36)).join('')
  return `${writer}-${(++writes).toString(36)}`
}
