import { isEndless } from '../dense.js'
import { fail } from '../errors.js'
import type { Conditions, Question } from '../protocol.js'

type Check = (operand: unknown) => boolean

/** A value to compare with has at most so many elements, counted wherever they are: shared arrays multiply them. */
const MOST = 1_000_000

const isValue: Check = (operand) => isComparable(operand, [], { left: MOST })

/** An array that contains itself can be compared with nothing. */
function isComparable(operand: unknown, around: unknown[], room: { left: number }): boolean {
  if (room.left-- === 0) return false
  return (
    operand === null ||
    ['string', 'boolean'].includes(typeof operand) ||
    (typeof operand === 'number' && !Number.isNaN(operand)) ||
    (operand instanceof Date && !Number.isNaN(operand.getTime())) ||
    (Array.isArray(operand) &&
      !around.includes(operand) &&
      !isEndless(operand) &&
      operand.every((element) => isComparable(element, [...around, operand], room)))
  )
}

/** A hole is no value; a copy shows it as undefined, where the list itself would pass over it. */
const isListOfValues: Check = (operand) => Array.isArray(operand) && !isEndless(operand) && isValue(Array.from(operand))

const OPERATORS: Record<string, { takes: string; check: Check }> = {
  gt: { takes: 'a number, a Date or a string', check: isValue },
  gte: { takes: 'a number, a Date or a string', check: isValue },
  lt: { takes: 'a number, a Date or a string', check: isValue },
  lte: { takes: 'a number, a Date or a string', check: isValue },
  in: { takes: 'an array of values', check: isListOfValues },
  startsWith: { takes: 'a string', check: (operand) => typeof operand === 'string' },
  contains: { takes: 'a value', check: isValue },
  exists: { takes: 'true or false', check: (operand) => typeof operand === 'boolean' },
}

/** Checks what a caller asks, and takes a copy that later changes do not reach. */
export function toQuestion(options: unknown, collection: string): Question {
  const refuse = (sentence: string) => fail('invalid', { collection }, sentence)
  if (options === undefined) return {}
  if (!isObject(options)) throw refuse('a query is an object with where, orderBy, order or limit.')
  const { where, orderBy, order, limit, ...unknown } = options
  const [stranger] = Object.keys(unknown)
  if (stranger !== undefined) throw refuse(`a query has no ${stranger}: it has where, orderBy, order and limit.`)
  if (orderBy !== undefined && (typeof orderBy !== 'string' || orderBy === '')) {
    throw refuse('orderBy is the name of a field, or a path to one.')
  }
  if (order !== undefined && order !== 'asc' && order !== 'desc') throw refuse("order is 'asc' or 'desc'.")
  if (limit !== undefined && !(Number.isSafeInteger(limit) && (limit as number) > 0)) {
    throw refuse('limit is a whole number above 0.')
  }
  if (where !== undefined) checkWhere(where, refuse)
  return copy({
    ...(where === undefined ? {} : { where: where as Conditions }),
    ...(orderBy === undefined ? {} : { orderBy: orderBy as string }),
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit: limit as number }),
  })
}

/** A copy in which nothing is there twice, not even where the caller's has one array in two places. */
function copy<T>(value: T): T {
  if (value instanceof Date) return new Date(value) as T
  if (Array.isArray(value)) return value.map(copy) as T
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, copy(inner)])) as T
}

function checkWhere(where: unknown, refuse: (sentence: string) => Error): void {
  if (!isObject(where)) throw refuse('where is an object of conditions by field.')
  for (const [path, condition] of Object.entries(where)) {
    if (path === 'or') {
      if (!Array.isArray(condition) || isEndless(condition)) throw refuse('or takes an array of alternatives.')
      for (const alternative of condition) checkWhere(alternative, refuse)
    } else if (isObject(condition)) {
      checkOperators(path, condition, refuse)
    } else if (!isValue(condition)) {
      throw refuse(
        `${path} is compared with something that cannot be compared. To ask for its absence, use { exists: false }.`,
      )
    }
  }
}

function checkOperators(path: string, condition: object, refuse: (sentence: string) => Error): void {
  const entries = Object.entries(condition)
  if (entries.length === 0) throw refuse(`the condition on ${path} has no operator.`)
  for (const [name, operand] of entries) {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined
    if (!operator)
      throw refuse(`${path}: there is no operator ${name}. There are ${Object.keys(OPERATORS).join(', ')}.`)
    if (!operator.check(operand)) throw refuse(`${path}: ${name} takes ${operator.takes}.`)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}
