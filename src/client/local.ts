import { toFailure } from '../errors.js'
import type { Answer, Link, Operation, Reply, Tidied } from '../protocol.js'

/** An engine on this thread, which is loaded when it is needed. */
export class Local implements Link {
  readonly #engine: Promise<Link>

  constructor(load: () => Promise<Link>) {
    this.#engine = load()
    this.#engine.catch(() => undefined)
  }

  open(): Promise<Reply> {
    return this.#engine.then((engine) => engine.open()).catch(refusal)
  }

  run(operations: Operation[]): Promise<Reply[]> {
    return this.#engine.then(
      (engine) => engine.run(operations),
      (error: unknown) => operations.map(() => refusal(error)),
    )
  }

  async tidy(budget: number): Promise<Tidied> {
    return (await this.#engine).tidy(budget)
  }

  sweep(): Promise<Reply> {
    return this.#engine.then((engine) => engine.sweep()).catch(refusal)
  }

  answer(call: string, answer: Answer): void {
    this.#engine.then(
      (engine) => engine.answer(call, answer),
      () => undefined,
    )
  }

  rest(): void {
    this.#engine.then(
      (engine) => engine.rest(),
      () => undefined,
    )
  }

  close(): Promise<void> {
    return this.#engine.then(
      (engine) => engine.close(),
      () => undefined,
    )
  }

  destroy(): Promise<Reply> {
    return this.#engine.then((engine) => engine.destroy()).catch(refusal)
  }
}

function refusal(error: unknown): Reply {
  return { ok: false, failure: toFailure(error) }
}
