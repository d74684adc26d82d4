import { fail } from '../errors.js'
import type { Operation } from '../protocol.js'
import { checkId, toDraft, toFields } from './draft.js'

/** On what condition a document is written. */
export interface WriteOptions {
  /** Write only if the document still has this `_etag`; otherwise `precondition-failed`. */
  ifMatch?: string | undefined
}

type Of<Name extends Operation['verb']> = Extract<Operation, { verb: Name }>

/** Makes the operation of each write of one document, and refuses what cannot be one. */
export const make = {
  create(collection: string, doc: unknown): Of<'create'> {
    return { verb: 'create', collection, doc: toDraft(doc, collection, true) }
  },

  upsert(collection: string, doc: unknown, options?: WriteOptions): Of<'upsert'> {
    return { verb: 'upsert', collection, doc: toDraft(doc, collection, false), ...guard(options, collection) }
  },

  replace(collection: string, doc: unknown, options?: WriteOptions): Of<'replace'> {
    return { verb: 'replace', collection, doc: toDraft(doc, collection, false), ...guard(options, collection) }
  },

  patch(collection: string, id: string, fields: unknown, options?: WriteOptions): Of<'patch'> {
    checkId(id, collection)
    return { verb: 'patch', collection, id, fields: toFields(fields, collection, id), ...guard(options, collection) }
  },

  touch(collection: string, id: string, options?: WriteOptions): Of<'touch'> {
    checkId(id, collection)
    return { verb: 'touch', collection, id, ...guard(options, collection) }
  },

  delete(collection: string, id: string, options?: WriteOptions): Of<'delete'> {
    checkId(id, collection)
    return { verb: 'delete', collection, id, ...guard(options, collection) }
  },
}

function guard(options: WriteOptions = {}, collection: string): WriteOptions {
  if (typeof options !== 'object' || options === null) {
    throw fail('invalid', { collection }, 'the options are an object with ifMatch.')
  }
  const { ifMatch } = options
  if (ifMatch === undefined) return {}
  if (typeof ifMatch === 'string') return { ifMatch }
  throw fail('invalid', { collection }, 'ifMatch is the _etag of a document that was read.')
}
