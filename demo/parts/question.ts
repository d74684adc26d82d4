import type { QueryOptions, Where } from 'mayfly'
import { element, make } from '../lib/dom.js'
import { field } from '../lib/form.js'
import type { Order } from '../store.js'
import { CUSTOMERS } from './examples.js'

/** How many documents are shown. */
export const LIMIT = 100
type OrderBy = 'placedAt' | 'total' | 'customer' | '_ts'

export interface Asked extends QueryOptions<Order> {
  orderBy: OrderBy
}

/** The form that makes a query. Calls back whenever it makes another. */
export function watchQuestion(change: (asked: Asked) => void): void {
  const form = element('#filter', HTMLFormElement)
  const customers = element('[name=customer]', HTMLSelectElement, form)
  for (const name of CUSTOMERS) customers.append(make('option', {}, name))
  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('input', () => change(asked(form)))
  change(asked(form))
}

function asked(form: HTMLFormElement): Asked {
  const [customer, from] = [field(form, 'customer'), field(form, 'from')]
  const [orderBy, order] = field(form, 'sort').split(' ') as [OrderBy, 'asc' | 'desc']
  const where: Where<Order> = {
    ...(customer ? { customer } : {}),
    ...(from ? { total: { gte: Number(from) } } : {}),
  }
  return { ...(customer || from ? { where } : {}), orderBy, order, limit: LIMIT }
}

/** The call, as one would write it. */
export function codeOf(name: string, asked: Asked): string {
  const text = JSON.stringify(asked)
    .replaceAll(/"(\w+)":/g, '$1: ')
    .replaceAll('"', '’')
    .replaceAll(',', ', ')
    .replaceAll('{', '{ ')
    .replaceAll('}', ' }')
    .replaceAll('’', "'")
  return `${name}.query(${text})`
}
