/** A network of this thread: what it answers is up to the test, and every request is noted. */
export interface Sent {
  url: string
  method: string
  headers: Record<string, string>
  signal: AbortSignal
  cache: RequestCache
}

type Answer = (request: Request, nth: number) => Response | Promise<Response>

export class Network {
  readonly sent: Sent[] = []
  #answer: Answer = () => new Response('Hello')

  /** Says what to answer from now on. */
  answer(answer: Answer): void {
    this.#answer = answer
  }

  /** From now on nothing gets through. */
  cut(): void {
    this.answer(() => Promise.reject(new TypeError('Failed to fetch')))
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { url, method, headers, cache } = request
    // That of the request follows it, and is another.
    const signal = init?.signal ?? request.signal
    this.sent.push({ url, method, headers: Object.fromEntries(headers), signal, cache })
    const answered = Promise.resolve(this.#answer(request, this.sent.length))
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
    return Promise.race([answered, aborted])
  }
}

/** An address of the own origin, where there is one. */
export const here = (path: string) => new URL(path, globalThis.location?.origin ?? 'http://localhost').href

/** A promise and what settles it. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void; fail: (error: unknown) => void } {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

/** The HTTP form of a moment. */
export const httpDate = (ms: number) => new Date(ms).toUTCString()
