/** What was seen of a document, or written. */
export interface Seen {
  key: string
  v: string | null
  ts?: number
  ttl?: number | null
  torn?: unknown
}

export interface Begun {
  op: string
  tab: number
  kind: 'write' | 'read'
  verb: string
  /** `isKept`: it leaves the ttl as it was. */
  targets: { key: string; v?: string; deletes?: boolean; ttl?: number; isKept?: boolean }[]
}

export interface Ended {
  op: string
  outcome: string
  code?: string
  message?: string
  seen: Seen[]
}

/** A call, from before it began until after it ended; what has not ended may have happened at any time since. */
export interface Call extends Begun {
  begin: number
  beginTime: number
  end: number
  endTime: number
  outcome: string
  seen: Seen[]
  message?: string
}

/** Every call of every tab, as the runner has heard of them: it outlives the tabs. Its order is that of arrival. */
export class History {
  readonly calls = new Map<string, Call>()
  #at = 0
  /** The steps of the clock that all tabs share: since when, and by how much it is off. */
  readonly #steps: { time: number; offset: number }[] = [{ time: 0, offset: 0 }]

  get at(): number {
    return ++this.#at
  }

  get clock(): { step: number; offset: number } {
    return { step: this.#steps.length - 1, offset: this.#steps.at(-1)!.offset }
  }

  stepTo(offset: number): void {
    this.#steps.push({ time: Date.now(), offset })
  }

  begin(begun: Begun): void {
    const never = { end: Infinity, endTime: Infinity, outcome: 'unknown', seen: [] }
    this.calls.set(begun.op, { ...begun, begin: this.at, beginTime: Date.now(), ...never })
  }

  end({ op, outcome, seen, message, code }: Ended): void {
    const call = this.calls.get(op)
    if (!call) return
    const isUnknown = outcome === 'lost' && call.kind === 'write'
    Object.assign(call, { outcome: isUnknown ? 'unknown' : outcome, seen, message: message ?? code })
    if (!isUnknown) Object.assign(call, { end: this.at, endTime: Date.now() })
  }

  /** The earliest that any clock asked within these moments may have shown, in seconds. */
  earliest(from: number, until: number): number {
    let earliest = from + this.#steps.findLast(({ time }) => time <= from)!.offset
    for (const { time, offset } of this.#steps) {
      if (time > from && time <= until) earliest = Math.min(earliest, time + offset)
    }
    return earliest / 1000
  }

  /** Begins anew with what is there: whatever was under way has ended, one way or the other. */
  restart(there: Seen[]): void {
    const begun = new Map([...this.calls.values()].flatMap(({ targets, begin }) => targets.map(({ v }) => [v, begin])))
    this.calls.clear()
    for (const seen of there) {
      const op = `before ${seen.key}`
      const target = { key: seen.key, v: seen.v! }
      const begin = begun.get(seen.v!) ?? this.at
      const moment = { begin, beginTime: Date.now(), end: this.at, endTime: Date.now() }
      const call = {
        op,
        tab: 0,
        kind: 'write',
        verb: 'before',
        targets: [target],
        outcome: 'ok',
        seen: [seen],
      } as const
      this.calls.set(op, { ...call, ...moment, targets: [target], seen: [seen] })
    }
  }

  /** Looks at everything that was ever there, in some way, and takes note of it as a read; gives back what is there. */
  async look(tab: number, read: () => Promise<Record<string, Seen>>): Promise<Seen[]> {
    const keys = new Set([...this.calls.values()].flatMap(({ targets }) => targets.map(({ key }) => key)))
    const op = `look ${this.at}`
    this.begin({ op, tab, kind: 'read', verb: 'look', targets: [...keys].map((key) => ({ key })) })
    const all = await read()
    this.end({ op, outcome: 'ok', seen: [...keys].map((key) => all[key] ?? { key, v: null }) })
    return Object.values(all)
  }
}
