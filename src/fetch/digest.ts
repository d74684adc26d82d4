/**
 * SHA-256 as hexadecimal text. The browser's own is missing where a page is not secure, and answers later; a key is
 * needed everywhere and at once.
 */
export function digest(data: string | Uint8Array): string {
  const { round, start } = (constants ??= makeConstants())
  const state = Int32Array.from(start)
  const words = new Int32Array(64)
  for (const block of blocks(typeof data === 'string' ? new TextEncoder().encode(data) : data)) {
    for (let at = 0; at < 16; at++) words[at] = block.getInt32(at * 4)
    for (let at = 16; at < 64; at++) {
      const [early, late] = [words[at - 15]!, words[at - 2]!]
      const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
      const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
      words[at] = words[at - 16]! + first + words[at - 7]! + second
    }
    compress(state, words, round)
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function compress(state: Int32Array, words: Int32Array, round: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let at = 0; at < 64; at++) {
    const mixed = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + round[at]! + words[at]!
    const other = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + mixed) | 0, c, b, a, (mixed + other) | 0]
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, at) => (state[at] = state[at]! + word))
}

/** The data in blocks of 64 bytes: then a bit, then zeros, then how many bits there were. */
function* blocks(data: Uint8Array): Generator<DataView, void, undefined> {
  const padded = new Uint8Array((data.length + 72) & -64)
  padded.set(data)
  padded[data.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(data.length) << 3n)
  for (let at = 0; at < padded.length; at += 64) yield new DataView(padded.buffer, at, 64)
}

const turn = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits))

let constants: { round: Int32Array; start: Int32Array } | undefined

/** The standard's numbers: the first bits behind the point of the roots of the first primes. */
function makeConstants(): { round: Int32Array; start: Int32Array } {
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  const bits = (root: number) => ((root % 1) * 2 ** 32) | 0
  return {
    round: Int32Array.from(primes, (prime) => bits(Math.cbrt(prime))),
    start: Int32Array.from(primes.slice(0, 8), (prime) => bits(Math.sqrt(prime))),
  }
}
