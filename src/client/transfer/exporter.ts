import { fail } from '../../errors.js'
import type { Document } from '../../protocol.js'
import type { ExportOptions, TransferTools } from '../transfer.js'
import { encode } from './encoder.js'
import { checked } from './options.js'
import { FORMAT, LONGEST_LINE, Unfit, VERSION } from './format.js'
import type { Footer, Header, Line } from './format.js'

/** How many documents the first page has, and at most. */
const FIRST = 16
const AT_MOST = 2000

/** About how many characters a page should make. */
const PAGE = 256 * 1024

const NEWLINE = '\n'

/** The parts of a file with every document that lives when its page is read. */
export async function* partsOf(
  tools: TransferTools,
  options: ExportOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { name, queue, collections, versions } = tools
  const { collections: names = Object.keys(collections), signal } = checked(tools, options)
  signal?.throwIfAborted()
  const encoder = new TextEncoder()
  const settings = await Promise.all(
    names.map(async (one) => ({
      name: one,
      defaultTtl: (await collections[one]!.settings()).defaultTtl,
      version: versions.get(one) ?? 1,
    })),
  )
  const header: Header = { format: FORMAT, version: VERSION, store: name, collections: settings }
  yield encoder.encode(JSON.stringify(header) + NEWLINE)
  const end: number[] = []
  for (const collection of names) {
    let count = 0
    let size = FIRST
    let after: string | undefined
    do {
      signal?.throwIfAborted()
      queue.checkOpen()
      const { items, next } = await collections[collection]!.query({ limit: size }).page(after)
      let text = ''
      for (const doc of items) text += (await lineOf(collection, doc as unknown as Document)) + NEWLINE
      count += items.length
      after = next
      size = Math.max(1, Math.min(AT_MOST, size * 4, Math.floor((items.length * PAGE) / Math.max(1, text.length))))
      if (items.length > 0) yield encoder.encode(text)
    } while (after !== undefined)
    end.push(count)
  }
  const footer: Footer = { end }
  yield encoder.encode(JSON.stringify(footer) + NEWLINE)
}

async function lineOf(collection: string, doc: Document): Promise<string> {
  // An import gives it another.
  delete (doc as Partial<Document>)._etag
  try {
    const text = JSON.stringify({ in: collection, doc: await encode(doc) } satisfies Line)
    if (text.length <= LONGEST_LINE) return text
    throw new Unfit(`it would take a line of more than ${LONGEST_LINE} bytes`)
  } catch (cause) {
    const place = { collection, id: doc.id }
    if (cause instanceof Unfit) throw fail('invalid', place, `this cannot be exported: ${cause.message}.`)
    throw fail('failed', place, 'this could not be read to export it.', cause)
  }
}
