import { isDense } from '../../dense.js'
import { fail, readable } from '../../errors.js'
import { isCallable, isSignal } from '../many.js'
import type { ExportOptions, ImportOptions, TransferTools } from '../transfer.js'

/** What a caller has said, when it has been looked at. */
export function checked<O extends ExportOptions & ImportOptions>(tools: TransferTools, options: O): O {
  return readable(() => copyOf(tools, options))
}

/** A copy, which later changes do not reach. */
function copyOf<O extends ExportOptions & ImportOptions>({ collections }: TransferTools, options: O): O {
  const refuse = (sentence: string) => fail('invalid', {}, sentence)
  if (typeof options !== 'object' || options === null) throw refuse('the options are an object.')
  const copy = { ...options }
  const { collections: names, onConflict = 'fail', signal, onProgress } = copy
  const isKnown = (name: unknown) => typeof name === 'string' && Object.hasOwn(collections, name)
  if (names !== undefined && !(Array.isArray(names) && isDense(names) && names.every(isKnown))) {
    throw refuse('collections is an array of names of collections that the store has.')
  }
  if (!['fail', 'replace', 'keep'].includes(onConflict)) throw refuse("onConflict is 'fail', 'replace' or 'keep'.")
  if (!isSignal(signal)) throw refuse('signal is an AbortSignal.')
  if (!isCallable(onProgress)) throw refuse('onProgress is a function.')
  return copy
}
