import type { Conditions } from '../protocol.js'
import { isOperators } from './match.js'
import { compare, isSortable } from './order.js'
import type { Sortable } from './order.js'
import { isWithin, overlap, spanOfPrefix, spanOfType } from './span.js'
import type { Span } from './span.js'

/** What the conditions on a field say of its place in an index. The documents themselves are tested again. */
export interface Fact {
  /** It is one of these. */
  points?: Sortable[]
  /** It lies in this. */
  span?: Span
  /** It is an array that has this element. */
  element?: Sortable
  /** Nothing else was said. */
  isAll: boolean
}

/** Conditions that must all hold. */
export interface Conjunction {
  facts: Map<string, Fact>
  /** Nothing else was said, of any field. */
  isAll: boolean
}

/** More alternatives than this are not looked up one by one. */
const MANY = 500

type Said = [path: string, condition: unknown][]

/** The alternatives of a `where`, none of which has alternatives inside. Those that nothing can meet are left out. */
export function alternatives(where: Conditions = {}): Conjunction[] {
  const spread = spreadOut(where)
  const all = spread ?? [Object.entries(where).filter(([path]) => path !== 'or')]
  return all.flatMap((said) => conjunction(said, spread !== undefined))
}

function spreadOut(where: Conditions): Said[] | undefined {
  const { or, ...rest } = where
  const said = Object.entries(rest)
  if (or === undefined) return [said]
  const spread: Said[] = []
  for (const alternative of or as Conditions[]) {
    const inner = spreadOut(alternative)
    if (!inner || spread.length + inner.length > MANY) return undefined
    for (const more of inner) spread.push([...said, ...more])
  }
  return spread
}

function conjunction(said: Said, isAll: boolean): Conjunction[] {
  const facts = new Map<string, Fact>()
  for (const [path, condition] of said) {
    const before = facts.get(path) ?? { isAll: true }
    const operators = isOperators(condition) ? Object.entries(condition) : [['eq', condition] as [string, unknown]]
    let fact: Fact | undefined = before
    for (const [name, operand] of operators) {
      fact = fact && narrow(fact, name, operand)
    }
    if (!fact) return []
    facts.set(path, fact)
  }
  return [{ facts, isAll: isAll && [...facts.values()].every(saysAll) }]
}

/** An element is looked up only where nothing else is known of the field. */
function saysAll({ isAll, element, points, span }: Fact): boolean {
  return isAll && (element === undefined || (!points && !span))
}

/** The fact with one more operator; undefined when nothing can meet both. */
function narrow(fact: Fact, name: string, operand: unknown): Fact | undefined {
  const more = { ...fact, isAll: false }
  switch (name) {
    case 'eq':
      return isSortable(operand) ? toPoints(fact, [operand]) : more
    case 'in':
      return (operand as unknown[]).every((one) => isSortable(one)) ? toPoints(fact, operand as Sortable[]) : more
    case 'startsWith':
      return toSpan(fact, spanOfPrefix(operand as string))
    case 'contains':
      return isSortable(operand) && fact.element === undefined ? { ...fact, element: operand } : more
    case 'exists':
      return more
    default:
      return isSortable(operand) ? toSpan(fact, spanOf(name, operand)) : undefined
  }
}

function spanOf(name: string, operand: Sortable): Span {
  const span = spanOfType(operand)
  if (name === 'gt' || name === 'gte') return { ...span, lower: operand, isLowerOpen: name === 'gt' }
  return { ...span, upper: operand, isUpperOpen: name === 'lt' }
}

function toPoints(fact: Fact, points: Sortable[]): Fact | undefined {
  const { points: before, span } = fact
  const kept = distinct(points).filter(
    (point) => (!before || before.some((other) => compare(point, other) === 0)) && (!span || isWithin(point, span)),
  )
  if (kept.length === 0) return undefined
  const { span: _, ...rest } = fact
  return { ...rest, points: kept }
}

function toSpan(fact: Fact, span: Span): Fact | undefined {
  // A span that begins after its end, as that of less than -Infinity does, shares nothing with itself.
  const shared = overlap(fact.span ?? span, span)
  if (!shared) return undefined
  return fact.points ? toPoints({ ...fact, span: shared }, fact.points) : { ...fact, span: shared }
}

function distinct(values: Sortable[]): Sortable[] {
  const sorted = [...values].sort(compare)
  return sorted.filter((value, at) => at === 0 || compare(sorted[at - 1]!, value) !== 0)
}
