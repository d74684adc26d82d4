import type { Identified } from '../document.js'
import type { OnConflict } from '../protocol.js'
import type { Collection } from './collection.js'
import type { Progress } from './many.js'
import type { Queue } from './queue.js'
import type { ImportSource } from './transfer/lines.js'

/** What `export` may be given. */
export interface ExportOptions {
  /** The names of the collections to export; all of them unless told. */
  collections?: readonly string[] | undefined
  /** Ends the stream with an error. */
  signal?: AbortSignal | undefined
}

/** What `import` may be given. */
export interface ImportOptions {
  /** The names of the collections to import; what else is in the file is passed over. All unless told. */
  collections?: readonly string[] | undefined
  /** What becomes of a document whose id is taken: `'fail'` unless told, which refuses the file with `conflict`. */
  onConflict?: OnConflict | undefined
  /** Whether the collections get the `defaultTtl` that the file says, too. */
  settings?: boolean | undefined
  /** Whether documents are written as they are read, and stay when a later line is refused. */
  partial?: boolean | undefined
  /** Called after each part that was read, and at the end with the `total`. */
  onProgress?: ((progress: Progress) => void) | undefined
  /** Stops. Nothing was imported then, unless it was `partial`. */
  signal?: AbortSignal | undefined
}

/** What came of an import. */
export interface Imported {
  /** How many documents were written. */
  imported: number
  /** How many had expired, and were left out. */
  expired: number
  /** How many were left out because there was one with their id, with `onConflict: 'keep'`. */
  kept: number
  /** Whether the signal stopped it before the end. */
  stopped: boolean
}

/** @internal */
export interface TransferTools {
  name: string
  queue: Queue
  collections: Record<string, Collection<Identified>>
  /** Of the documents that each collection writes. */
  versions: ReadonlyMap<string, number>
}

/** What does the work: a part of its own, which is loaded when it is first needed. */
export interface Carrier {
  partsOf(tools: TransferTools, options: ExportOptions | undefined): AsyncGenerator<Uint8Array<ArrayBuffer>>
  importFrom(tools: TransferTools, source: unknown, options: ImportOptions | undefined): Promise<Imported>
}

export type LoadCarrier = () => Promise<Carrier>

/** A stream of what is read when somebody reads: what has expired by then is not in it. */
export function exporting(tools: TransferTools, load: LoadCarrier, options: ExportOptions | undefined) {
  tools.queue.checkOpen()
  let parts: AsyncGenerator<Uint8Array<ArrayBuffer>> | undefined
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        parts ??= (await load()).partsOf(tools, options)
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await parts?.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

export async function importing(
  tools: TransferTools,
  load: LoadCarrier,
  source: ImportSource,
  options: ImportOptions | undefined,
): Promise<Imported> {
  tools.queue.checkOpen()
  return (await load()).importFrom(tools, source, options)
}
