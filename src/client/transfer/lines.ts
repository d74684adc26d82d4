import { LONGEST_LINE, Unfit } from './format.js'

/** Where a file comes from. */
export type ImportSource =
  | ReadableStream<Uint8Array<ArrayBuffer>>
  | ReadableStream<string>
  | Blob
  | Response
  | string
  | AsyncIterable<Uint8Array | string>

/** What reading ends with when the signal says so. */
export const ABORTED = Symbol('aborted')

const NEWLINE = 10

const HALF = 'it holds half of a character'

/** The lines of a file, as they come. A line is looked for among bytes, so that it is known which one is damaged. */
export async function* linesOf(
  source: unknown,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = ''
  let size = 0
  const take = (bytes: Uint8Array, isEnd: boolean) => {
    size += bytes.length
    if (size > LONGEST_LINE) throw new Unfit(`it is longer than ${LONGEST_LINE} bytes`)
    try {
      line += decoder.decode(bytes, { stream: !isEnd })
    } catch {
      const isGzip = line === '' && bytes[0] === 0x1f
      throw new Unfit(isGzip ? "it is compressed: read it through DecompressionStream('gzip')" : 'it is not UTF-8')
    }
  }
  for await (const bytes of chunks(iteratorOf(source), signal)) {
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      take(bytes.subarray(from, end), true)
      yield line
      line = ''
      size = 0
      from = end + 1
    }
    take(bytes.subarray(from), false)
  }
  take(new Uint8Array(), true)
  if (line !== '') yield line
}

async function* chunks(
  iterator: Pick<AsyncIterator<unknown>, 'next' | 'return'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  let abort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(ABORTED)
    signal?.addEventListener('abort', abort)
  })
  aborted.catch(() => undefined)
  let isOver = false
  /** Of a character whose other half comes with the next part of the text. */
  let half = ''
  try {
    for (;;) {
      if (signal?.aborted) throw ABORTED
      const { done, value } = await Promise.race([iterator.next(), aborted])
      isOver = done === true
      if (half && typeof value !== 'string') throw new Unfit(HALF)
      if (isOver) return
      if (typeof value === 'string') {
        const text = half + value
        half = /[\ud800-\udbff]/.exec(text.slice(-1))?.[0] ?? ''
        const whole = text.slice(0, text.length - half.length)
        // An encoder would put another character in the place of half of one, and say nothing.
        const lone = whole.search(/[\ud800-\udfff]/u)
        yield encoder.encode(lone === -1 ? whole : whole.slice(0, lone))
        if (lone !== -1) throw new Unfit(HALF)
      } else if (ArrayBuffer.isView(value)) yield new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      else throw new Unfit('the source gives something that is neither bytes nor text')
    }
  } finally {
    signal?.removeEventListener('abort', abort!)
    // Whatever it waits for, nobody waits for it.
    if (!isOver) Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

function iteratorOf(source: unknown): Pick<AsyncIterator<unknown>, 'next' | 'return'> {
  if (typeof source === 'string') return once(source)
  if (source instanceof Blob) return read(source.stream())
  if (typeof Response === 'function' && source instanceof Response) {
    if (!source.ok) throw new Unfit(`the response says ${source.status}`)
    return source.body ? read(source.body) : once('')
  }
  if (source instanceof ReadableStream) return read(source)
  const iterate = Object(source)[Symbol.asyncIterator] as unknown
  if (typeof iterate !== 'function') {
    throw new Unfit('this takes a stream, a Blob, a Response, a string or an async iterable of bytes or text')
  }
  return iterate.call(source) as AsyncIterator<unknown>
}

/** Not every browser can iterate over a stream. */
function read(stream: ReadableStream<unknown>): Pick<AsyncIterator<unknown>, 'next' | 'return'> {
  if (stream.locked) throw new Unfit('somebody else is reading the stream')
  const reader = stream.getReader()
  return {
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    return: async () => {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
}

async function* once(text: string): AsyncGenerator<string, void, undefined> {
  yield text
}
