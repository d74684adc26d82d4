import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** LevelDB's logs are made of blocks, and those of records: a checksum, the length, and which part of a whole it is. */
const BLOCK = 32_768
const HEADER = 7
const FULL = 1
const LAST = 4

/**
 * Whether Chromium was killed while it was appending to one of its logs. It opens such a database once more with all
 * that is in it, but appends to the torn log; at the opening after that, it takes the log for damaged and deletes the
 * IndexedDB of the whole origin. So it does with raw IndexedDB, and also when it is never killed again.
 */
export async function isTorn(profile: string): Promise<boolean> {
  const folder = join(profile, 'Default', 'IndexedDB')
  for (const origin of await readdir(folder)) {
    for (const name of await readdir(join(folder, origin))) {
      if (/\.log$|^MANIFEST-/.test(name) && !isWhole(await readFile(join(folder, origin, name)))) return true
    }
  }
  return false
}

/** Whether the log ends where a record ends of which all parts are there. */
function isWhole(log: Buffer): boolean {
  let end = 0
  let at = 0
  while (at + HEADER <= log.length) {
    const left = BLOCK - (at % BLOCK)
    if (left < HEADER) {
      // Too little for a header: the rest of the block is empty.
      at += left
      continue
    }
    const next = at + HEADER + log.readUInt16LE(at + 4)
    const part = log[at + 6]!
    if (next > log.length || part < FULL || part > LAST) break
    if (part === FULL || part === LAST) end = next
    at = next
  }
  return end === log.length
}
