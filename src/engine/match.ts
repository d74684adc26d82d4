import { elements } from '../dense.js'
import type { Conditions, Document } from '../protocol.js'
import { compare, isComparable } from './order.js'
import type { Sortable } from './order.js'
import { reader } from './path.js'

type Test = (value: unknown) => boolean

/** Turns a `where` into a predicate. What it says was checked when the query was made. */
export function matcher(where: Conditions = {}): (doc: Document) => boolean {
  const tests = Object.entries(where).map(([path, condition]) => {
    if (path === 'or') {
      const alternatives = (condition as Conditions[]).map(matcher)
      return (doc: Document) => alternatives.some((matches) => matches(doc))
    }
    const test = isOperators(condition) ? every(condition) : equals(condition)
    const read = reader(path)
    return (doc: Document) => test(read(doc))
  })
  return (doc) => tests.every((test) => test(doc))
}

const operators: Record<string, (operand: unknown) => Test> = {
  gt: (operand) => ordered(operand, (order) => order > 0),
  gte: (operand) => ordered(operand, (order) => order >= 0),
  lt: (operand) => ordered(operand, (order) => order < 0),
  lte: (operand) => ordered(operand, (order) => order <= 0),
  in: (operand) => {
    const values = new Set(operand as unknown[])
    const tests = (operand as unknown[]).filter((one) => typeof one === 'object').map(equals)
    return (value) => values.has(value) || (typeof value === 'object' && tests.some((test) => test(value)))
  },
  startsWith: (operand) => (value) => typeof value === 'string' && value.startsWith(operand as string),
  contains: (operand) => {
    const test = equals(operand)
    return (value) => Array.isArray(value) && elements(value).some(test)
  },
  exists: (operand) => (value) => (value !== undefined) === operand,
}

function every(condition: Record<string, unknown>): Test {
  const tests = Object.entries(condition).map(([name, operand]) => operators[name]!(operand))
  return (value) => tests.every((test) => test(value))
}

function equals(operand: unknown): Test {
  if (typeof operand !== 'object' || operand === null) return (value) => value === operand
  // Dates and arrays are the same by what they hold.
  const isSame = ordered(operand, (order) => order === 0)
  return (value) => value === operand || isSame(value)
}

function ordered(operand: unknown, holds: (order: number) => boolean): Test {
  return (value) => isComparable(value, operand) && holds(compare(value as Sortable, operand as Sortable))
}

export function isOperators(condition: unknown): condition is Record<string, unknown> {
  return Object.prototype.toString.call(condition) === '[object Object]'
}
