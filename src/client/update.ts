import { fail, fromFailure, readable } from '../errors.js'
import type { Document, Draft, Operation } from '../protocol.js'
import { checkId, toDraft } from './draft.js'
import { valueOf } from './queue.js'
import type { Job, Queue, Send } from './queue.js'

interface Update {
  collection: string
  id: string
  change: (doc: Document) => unknown
  resolve: (doc: unknown) => void
  reject: (error: unknown) => void
}

interface Changed {
  update: Update
  draft: Draft
  ifMatch: string
}

/**
 * Updates run on the page, between a read and a write that succeeds only if nobody has written
 * meanwhile. Those made one after another share their messages; everything asked later waits.
 */
export class Updates {
  readonly #queue: Queue
  #latest: (Job & { updates: Update[] }) | undefined

  constructor(queue: Queue) {
    this.#queue = queue
  }

  add(collection: string, id: string, change: (doc: Document) => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.checkOpen()
      readable(() => checkId(id, collection), { collection })
      if (typeof change !== 'function') {
        throw fail(
          'invalid',
          { collection, id },
          'an update is a function that makes the new document from the old one.',
        )
      }
      this.#list().push({ collection, id, change, resolve, reject })
    })
  }

  /** The list that the next update joins: the last one, or a new one if something was asked since. */
  #list(): Update[] {
    if (!this.#latest || !this.#queue.isLast(this.#latest)) {
      const updates: Update[] = []
      this.#latest = { updates, start: (send) => run(updates, send) }
      this.#queue.add(this.#latest)
    }
    return this.#latest.updates
  }
}

async function run(updates: Update[], send: Send): Promise<void> {
  let pending = updates
  while (pending.length > 0) {
    const round = firstOfEach(pending)
    const again = await attempt(round, send)
    pending = pending.filter((update) => !round.includes(update) || again.includes(update))
  }
}

/** Updates of one document see each other's results, so they take turns. */
function firstOfEach(updates: Update[]): Update[] {
  const seen = new Map<string, Update>()
  for (const update of updates) {
    const key = JSON.stringify([update.collection, update.id])
    if (!seen.has(key)) seen.set(key, update)
  }
  return [...seen.values()]
}

/** Reads, changes and writes each document; gives back the updates that somebody else's write came before. */
async function attempt(updates: Update[], send: Send): Promise<Update[]> {
  const reads = updates.map(({ collection, id }): Operation => ({ verb: 'get', collection, id }))
  const docs = await send(reads)
  const changed = updates.flatMap((update, at): Changed[] => {
    try {
      return [change(update, valueOf(docs[at]) as Document | undefined)]
    } catch (error) {
      update.reject(error)
      return []
    }
  })
  if (changed.length === 0) return []
  const writes = changed.map(({ update: { collection }, draft: doc, ifMatch }): Operation => ({
    verb: 'replace',
    collection,
    doc,
    ifMatch,
  }))
  const written = await send(writes)
  return changed.flatMap(({ update }, at) => {
    const reply = written[at]!
    if (reply.ok) update.resolve(reply.value)
    else if (reply.failure.code === 'precondition-failed') return [update]
    else update.reject(fromFailure(reply.failure))
    return []
  })
}

function change(update: Update, doc: Document | undefined): Changed {
  const { collection, id } = update
  if (!doc)
    throw fail('not-found', { collection, id }, 'there is no such document to update. Use upsert() to write one.')
  const ifMatch = doc._etag
  const changed = update.change(doc)
  const draft = readable(() => toDraft(changed, collection, false), { collection, id })
  if (draft.id !== id) {
    throw fail(
      'invalid',
      { collection, id },
      'an update cannot change the id. Create the other document and delete this one.',
    )
  }
  return { update, draft, ifMatch }
}
