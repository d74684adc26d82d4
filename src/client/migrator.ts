import { fail, toFailure } from '../errors.js'
import type { Answer, Older, Link, Migrated, MigrationEvent } from '../protocol.js'
import type { Migration } from '../schema.js'
import { toDraft } from './draft.js'
import { call } from './report.js'

/** For so many milliseconds documents are migrated before the page has a chance to do something else. */
const BUDGET = 30

/** Does what the engine asks of a page whose schema migrates documents. */
export function hear(link: Link, { migrate, onMigrate }: Migration, event: MigrationEvent): void {
  if ('progress' in event) call(onMigrate, event.progress)
  else link.answer(event.call, answerTo(event.documents, event.migration, migrate))
}

/** What the time is too short for comes again; what has come before a failure is kept. */
function answerTo(documents: Older[], collection: string, migrate: Migration['migrate']): Answer {
  const end = performance.now() + BUDGET
  const migrated: Migrated[] = []
  try {
    for (const older of documents) {
      migrated.push(one(older, collection, migrate))
      if (performance.now() > end) break
    }
    return { migrated }
  } catch (error) {
    return { migrated, failure: toFailure(error) }
  }
}

function one({ doc, from }: Older, collection: string, migrate: Migration['migrate']): Migrated {
  const { id, _etag: etag } = doc
  const refuse = (sentence: string, cause?: unknown) =>
    fail(
      'invalid',
      { collection, id },
      `${sentence} What was migrated before it is stored; the rest is as it was.`,
      cause,
    )
  let given: unknown
  try {
    given = migrate(doc, from)
  } catch (cause) {
    throw refuse('migrate() threw for this document.', cause)
  }
  if (given === null) return { id, etag }
  if (given === undefined) throw refuse('migrate() gave nothing. Return the document, or null to delete it.')
  if (typeof (given as { then?: unknown }).then === 'function') throw refuse('migrate() must not be async.')
  const draft = (() => {
    try {
      return toDraft(given, collection, false)
    } catch (cause) {
      throw refuse('migrate() gave something that is not a document.', cause)
    }
  })()
  if (draft.id !== id) throw refuse(`migrate() changed the id, to ${draft.id}.`)
  return { id, etag, doc: draft }
}
