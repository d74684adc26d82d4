import { isDense } from '../../dense.js'
import { toBase64 } from './base64.js'
import { DEEPEST, define, ERRORS, Unfit, VIEWS } from './format.js'

/** Turns a value into one that JSON can hold. What is in it twice is in the result once, with a number. */
export async function encode(value: unknown): Promise<unknown> {
  const { shared, blobs } = survey(value)
  const contents = new Map<Blob, string>()
  for (const blob of blobs) contents.set(blob, toBase64(new Uint8Array(await blob.arrayBuffer())))
  return new Encoder(shared, contents).encode(value)
}

function survey(root: unknown): { shared: Set<unknown>; blobs: Blob[] } {
  const seen = new Set<unknown>()
  const shared = new Set<unknown>()
  const blobs: Blob[] = []
  const waiting = [root]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    if (seen.has(value)) {
      shared.add(value)
      continue
    }
    seen.add(value)
    if (isBlob(value)) blobs.push(value)
    for (const inner of inside(value)) waiting.push(inner)
  }
  return { shared, blobs }
}

function* inside(value: object): Iterable<unknown> {
  if (value instanceof Map) {
    for (const pair of value) yield* pair
  } else if (value instanceof Set) {
    yield* value
  } else if (ArrayBuffer.isView(value)) {
    yield value.buffer
  } else if (brandOf(value) === 'Error') {
    yield (value as Error).cause
  } else if (Array.isArray(value) || brandOf(value) === 'Object') {
    yield* Object.values(value)
  }
}

/**
 * What an object holds is left for later, so that no depth takes the stack. A decoder goes the same way, and so meets
 * the number of an object before anything that refers to it.
 */
class Encoder {
  readonly #shared: Set<unknown>
  readonly #contents: Map<Blob, string>
  readonly #numbers = new Map<object, number>()
  readonly #later: (() => void)[] = []

  constructor(shared: Set<unknown>, contents: Map<Blob, string>) {
    this.#shared = shared
    this.#contents = contents
  }

  encode(root: unknown): unknown {
    const node = this.#node(root, 0)
    for (let next = this.#later.pop(); next; next = this.#later.pop()) next()
    return node
  }

  #node(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        if (Object.is(value, -0)) return { $: 'number', v: '-0' }
        return Number.isFinite(value) ? value : { $: 'number', v: String(value) }
      case 'bigint':
        return { $: 'bigint', v: value.toString(16) }
      case 'object':
        return value === null ? null : this.#object(value, depth)
      default:
        return { $: 'undefined' }
    }
  }

  #object(value: object, depth: number): unknown {
    if (depth > DEEPEST) throw new Unfit(`it is nested more than ${DEEPEST} deep`)
    if (!this.#shared.has(value)) return this.#whole(value, depth)
    const known = this.#numbers.get(value)
    if (known !== undefined) return { $: 'ref', n: known }
    const n = this.#numbers.size
    this.#numbers.set(value, n)
    return { $: 'def', n, v: this.#whole(value, depth) }
  }

  #whole(value: object, depth: number): unknown {
    const inner = (one: unknown) => this.#node(one, depth + 1)
    const listed = (items: Iterable<unknown>) => this.#list(items, inner)
    const paired = (items: Iterable<[unknown, unknown]>) => this.#list(items, ([field, one]) => [field, inner(one)])
    if (Array.isArray(value)) {
      if (isDense(value) && Object.keys(value).length === value.length) return listed(value)
      return { $: 'Array', length: value.length, v: paired(Object.entries(value)) }
    }
    const $ = brandOf(value)
    switch ($) {
      case 'Object':
        return Object.hasOwn(value, '$') ? { $, v: paired(Object.entries(value)) } : this.#fields(value, inner)
      case 'Date': {
        const time = (value as Date).getTime()
        return { $, v: Number.isNaN(time) ? null : time }
      }
      case 'Map':
        return { $, v: this.#list(value as Map<unknown, unknown>, (pair) => pair.map(inner)) }
      case 'Set':
        return { $, v: listed(value as Set<unknown>) }
      case 'RegExp': {
        const { source, flags } = value as RegExp
        return { $, source, flags }
      }
      case 'ArrayBuffer':
        return { $, v: toBase64(new Uint8Array(value as ArrayBuffer)) }
      case 'Boolean':
      case 'Number':
      case 'String':
      case 'BigInt':
        return { $: 'boxed', v: inner(value.valueOf()) }
      case 'Error':
        return this.#error(value as Error, inner)
    }
    if (isBlob(value)) return { $, type: value.type, v: this.#contents.get(value), ...fileOf(value) }
    if (VIEWS.has($)) {
      const { buffer, byteOffset: at, byteLength } = value as ArrayBufferView
      return { $, at, length: (value as { length?: number }).length ?? byteLength, v: inner(buffer) }
    }
    throw new Unfit(`it holds a ${$}, for which there is no text`)
  }

  #list<T>(items: Iterable<T>, make: (item: T) => unknown): unknown[] {
    const list: unknown[] = []
    this.#later.push(() => {
      for (const item of items) list.push(make(item))
    })
    return list
  }

  #fields(value: object, inner: (one: unknown) => unknown): object {
    const fields = {}
    this.#later.push(() => {
      for (const [field, one] of Object.entries(value)) define(fields, field, inner(one))
    })
    return fields
  }

  #error(error: Error, inner: (one: unknown) => unknown): unknown {
    const { name, message, stack } = error
    const node: Record<string, unknown> = {
      $: 'Error',
      name: ERRORS.has(name) ? name : 'Error',
      message: String(message),
      ...(typeof stack === 'string' ? { stack } : {}),
    }
    if (Object.hasOwn(error, 'cause')) this.#later.push(() => (node['cause'] = inner(error.cause)))
    return node
  }
}

function isBlob(value: object): value is Blob {
  return typeof Blob === 'function' && value instanceof Blob
}

function fileOf(blob: Blob): object {
  if (typeof File !== 'function' || !(blob instanceof File)) return {}
  return { name: blob.name, lastModified: blob.lastModified }
}

function brandOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}
