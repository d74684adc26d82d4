import { fail, MayflyError } from '../../errors.js'
import { checkDefaultTtl } from '../../schema.js'
import { FORMAT, Unfit, VERSION } from './format.js'
import type { Header, Line } from './format.js'

type Known = Header['collections']

/** Follows a file line by line, and knows what must come next. */
export class Reading {
  /** The collections of the file that are to be imported. */
  wanted: Known = []
  /** How many lines were read. */
  line = 0
  readonly #declared: string[]
  readonly #only: readonly string[] | undefined
  #counts: Map<string, number> | undefined
  #isOver = false
  /** Whether a line is being dealt with, and not the next one waited for. */
  #isInside = false
  /** What the line that was read last is about. */
  #place: { collection?: string; id?: string } = {}

  constructor(declared: string[], only: readonly string[] | undefined) {
    this.#declared = declared
    this.#only = only
  }

  /** What a line has to say to the importer: undefined, when that is nothing. */
  take(text: string): 'header' | Line | undefined {
    this.line++
    this.#isInside = true
    if (this.#isOver) {
      if (text.trim() === '') return undefined
      throw new Unfit('something comes after the end')
    }
    const node = parse(text)
    if (!this.#counts) {
      this.#begin(node)
      return 'header'
    }
    if ('end' in node) {
      this.#end(node['end'])
      return undefined
    }
    const { in: collection, doc } = node
    const count = typeof collection === 'string' ? this.#counts.get(collection) : undefined
    if (count === undefined) throw new Unfit('it is no document of a collection that the first line names')
    this.#counts.set(collection as string, count + 1)
    this.#place = { collection: collection as string }
    const id: unknown = Object(doc).id
    if (typeof id === 'string' && id !== '') this.#place.id = id.length > 80 ? `${id.slice(0, 80)}…` : id
    return this.wanted.some(({ name }) => name === collection) ? { in: collection as string, doc } : undefined
  }

  /** The line has been dealt with. */
  leave(): void {
    this.#isInside = false
    this.#place = {}
  }

  finish(): void {
    if (this.#isOver) return
    throw new Unfit('the file ends before its last line, which would say how many documents there are')
  }

  /** What refuses a document, without its own place: that of the line says more. */
  checked<T>(check: () => T): T {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof MayflyError)) throw error
      const { message, collection } = error
      const sentence = collection === undefined ? message : message.slice(message.indexOf(': ') + 2)
      throw new Unfit(sentence.replace(/\.$/, ''))
    }
  }

  refusal(sentence: string): MayflyError {
    return fail('invalid', this.#place, `line ${this.line + (this.#isInside ? 0 : 1)} of the file: ${sentence}.`)
  }

  #begin({ format, version, collections }: Record<string, unknown>): void {
    if (format !== FORMAT || typeof version !== 'number') throw new Unfit('this is no export of a store')
    if (version !== VERSION) throw new Unfit(`it is of version ${version}, and this takes ${VERSION}`)
    if (!isKnown(collections)) throw new Unfit('it does not say which collections there are')
    this.#counts = new Map(collections.map(({ name }) => [name, 0]))
    if (this.#counts.size < collections.length) throw new Unfit('it names a collection twice')
    for (const { defaultTtl } of collections) this.checked(() => checkDefaultTtl(defaultTtl))
    const strange = collections.find(({ name }) => !(this.#only ?? this.#declared).includes(name))
    if (strange && !this.#only) {
      throw new Unfit(
        `it has a collection that this store has not: ${strange.name.slice(0, 80)}. Say which to import with collections`,
      )
    }
    this.wanted = collections.filter((one) => one !== strange && (this.#only ?? this.#declared).includes(one.name))
  }

  #end(counts: unknown): void {
    const read = [...this.#counts!.values()]
    if (!Array.isArray(counts) || counts.length !== read.length || read.some((count, at) => count !== counts[at])) {
      throw new Unfit('it says that there are other numbers of documents than have come')
    }
    this.#isOver = true
  }
}

function parse(text: string): Record<string, unknown> {
  let node: unknown
  try {
    node = JSON.parse(text)
  } catch {
    throw new Unfit('it is not JSON')
  }
  if (typeof node === 'object' && node !== null && !Array.isArray(node)) return node as Record<string, unknown>
  throw new Unfit('it is not an object')
}

function isKnown(collections: unknown): collections is Known {
  return (
    Array.isArray(collections) &&
    collections.every((one: unknown) => {
      const { name, defaultTtl, version } = Object(one) as Record<string, unknown>
      return (
        typeof name === 'string' && defaultTtl !== undefined && Number.isSafeInteger(version) && (version as number) > 0
      )
    })
  )
}
