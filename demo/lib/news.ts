/** What the tabs of the page, and their workers, tell each other. */
export type News =
  /** A worker was given the leave to delete, and has deleted for a slice. Milliseconds since 1970. */
  | { type: 'slice'; tab: string; from: number; to: number }
  | { type: 'tabs' }
  | { type: 'settings' }
  | { type: 'cleared' }

const channel = new BroadcastChannel('mayfly-demo')
const listeners = new Set<(news: News) => void>()

channel.addEventListener('message', ({ data }: MessageEvent<News>) => {
  for (const listener of listeners) listener(data)
})

/** Tells the other tabs, and whoever listens here. */
export function tell(news: News): void {
  channel.postMessage(news)
  for (const listener of listeners) listener(news)
}

export function listen(listener: (news: News) => void): void {
  listeners.add(listener)
}
