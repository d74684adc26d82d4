import type { Contender } from '../contender.js'
import { contender as raw } from './raw.js'

const { putsInTurn: _, putsAtOnce: __, getsInTurn: ___, getsAtOnce: ____, ...each } = raw

/** IndexedDB without a wrapper, and a transaction for each operation. */
export const contender: Contender = each
