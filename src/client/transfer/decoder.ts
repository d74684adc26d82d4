import { fromBase64 } from './base64.js'
import { DEEPEST, define, ERRORS, Unfit, VIEWS } from './format.js'
import type { ViewType } from './format.js'

/** An object as JSON has it. */
type Node = Record<string, unknown>

/** Makes a value again of what `encode` has made of it. Whatever else it is given, it refuses. */
export function decode(node: unknown): unknown {
  return new Decoder().decode(node)
}

/** What an object holds is left for later, as it was by the encoder. */
class Decoder {
  /** By number what is there more than once: its own parts may lead back to it. */
  readonly #known = new Map<unknown, unknown>()
  readonly #later: (() => void)[] = []

  decode(root: unknown): unknown {
    const value = this.#value(root, 0)
    for (let next = this.#later.pop(); next; next = this.#later.pop()) next()
    return value
  }

  #value(node: unknown, depth: number): unknown {
    if (typeof node !== 'object' || node === null) return node
    if (depth > DEEPEST) throw new Unfit(`it is nested more than ${DEEPEST} deep`)
    const { $, n, v } = node as Node
    if (!Object.hasOwn(node, '$')) return this.#whole(node, depth)
    if ($ === 'ref' && this.#known.has(n)) return this.#known.get(n)
    if ($ !== 'def') return this.#whole(node, depth)
    const value = typeof v === 'object' && v !== null ? this.#whole(v, depth) : undefined
    if (typeof value !== 'object' || !Number.isSafeInteger(n) || this.#known.has(n)) return refuse()
    this.#known.set(n, value)
    return value
  }

  #whole(node: object, depth: number): unknown {
    const inner: Inner = (one) => this.#value(one, depth + 1)
    const later: Later = (work) => void this.#later.push(work)
    if (Array.isArray(node)) {
      const list: unknown[] = []
      later(() => {
        for (const one of node) list.push(inner(one))
      })
      return list
    }
    if (!Object.hasOwn(node, '$')) return fill({}, Object.entries(node), inner, later)
    const { $ } = node as Node
    const make = typeof $ === 'string' ? MAKERS.get($) : undefined
    if (!make) throw new Unfit('it names a type that there is not')
    return make(node as Node, inner, later)
  }
}

type Inner = (node: unknown) => unknown
type Later = (work: () => void) => void
type Make = (node: Node, inner: Inner, later: Later) => unknown

const MAKERS = new Map<string, Make>([
  ['undefined', () => undefined],
  ['number', ({ v }) => (['-0', 'NaN', 'Infinity', '-Infinity'].includes(text(v)) ? Number(v) : refuse())],
  ['bigint', ({ v }) => bigint(text(v))],
  ['boxed', ({ v }, inner) => boxed(inner(v))],
  ['Object', ({ v }, inner, later) => fill({}, pairs(v), inner, later)],
  ['Array', sparse],
  ['Date', ({ v }) => new Date(v === null ? NaN : number(v))],
  ['RegExp', ({ source, flags }) => attempt(() => new RegExp(text(source), text(flags)))],
  ['Map', map],
  ['Set', set],
  ['ArrayBuffer', ({ v }) => bytes(v).buffer],
  ['Blob', ({ v, type }) => new Blob([bytes(v)], { type: text(type) })],
  ['File', file],
  ['Error', error],
  ...Array.from(VIEWS, ([name, View]): [string, Make] => [name, (node, inner) => view(View, node, inner)]),
])

function fill(object: object, entries: [unknown, unknown][], inner: Inner, later: Later): object {
  later(() => {
    for (const [field, one] of entries) define(object, text(field), inner(one))
  })
  return object
}

function sparse({ v, length }: Node, inner: Inner, later: Later): unknown {
  const array: unknown[] = []
  attempt(() => (array.length = number(length)))
  const entries = pairs(v)
  // An element behind the end would make it longer.
  if (entries.some(([field]) => field === 'length' || (isIndex(field) && Number(field) >= array.length))) refuse()
  return fill(array, entries, inner, later)
}

function isIndex(field: unknown): boolean {
  return typeof field === 'string' && /^\d+$/.test(field)
}

function map({ v }: Node, inner: Inner, later: Later): unknown {
  const value = new Map<unknown, unknown>()
  const entries = pairs(v)
  later(() => {
    for (const [key, one] of entries) value.set(inner(key), inner(one))
  })
  return value
}

function set({ v }: Node, inner: Inner, later: Later): unknown {
  const value = new Set<unknown>()
  const values = list(v)
  later(() => {
    for (const one of values) value.add(inner(one))
  })
  return value
}

function file({ v, type, name, lastModified }: Node): unknown {
  if (typeof File !== 'function') throw new Unfit('it holds a File, and there are none here')
  return new File([bytes(v)], text(name), { type: text(type), lastModified: number(lastModified) })
}

function view(View: ViewType, { v, at, length }: Node, inner: Inner): unknown {
  const buffer = inner(v)
  return buffer instanceof ArrayBuffer ? attempt(() => new View(buffer, count(at), count(length))) : refuse()
}

function error(node: Node, inner: Inner, later: Later): unknown {
  const type = ERRORS.get(text(node['name'])) ?? refuse()
  const value = new type(text(node['message']))
  const hidden = (field: string, one: unknown) =>
    Object.defineProperty(value, field, { value: one, writable: true, enumerable: false, configurable: true })
  if (node['stack'] !== undefined) hidden('stack', text(node['stack']))
  if (Object.hasOwn(node, 'cause')) later(() => hidden('cause', inner(node['cause'])))
  return value
}

function boxed(value: unknown): unknown {
  return ['boolean', 'number', 'string', 'bigint'].includes(typeof value) ? Object(value) : refuse()
}

function bigint(hex: string): bigint {
  if (!/^-?[0-9a-f]+$/.test(hex)) return refuse()
  const size = BigInt(`0x${hex.replace('-', '')}`)
  return hex.startsWith('-') ? -size : size
}

function bytes(value: unknown): Uint8Array<ArrayBuffer> {
  return attempt(() => fromBase64(text(value)))
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : refuse()
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : refuse()
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : refuse()
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : refuse()
}

function pairs(value: unknown): [unknown, unknown][] {
  return list(value).every((pair) => Array.isArray(pair) && pair.length === 2)
    ? (value as [unknown, unknown][])
    : refuse()
}

function attempt<T>(make: () => T): T {
  try {
    return make()
  } catch {
    return refuse()
  }
}

function refuse(): never {
  throw new Unfit('a value in it is not what it says to be')
}
