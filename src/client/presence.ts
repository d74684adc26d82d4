/**
 * Tells when the page is put to sleep, in the back/forward cache or because it has long been hidden,
 * and when it wakes. Asleep it must hold nothing that other tabs need. Returns its own undo.
 */
export function watchPresence(sleep: () => void, wake: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined
  const stopping = new AbortController()
  const { signal } = stopping
  const ifKept = (then: () => void) => (event: PageTransitionEvent) => {
    if (event.persisted) then()
  }
  addEventListener('pagehide', ifKept(sleep), { signal })
  addEventListener('pageshow', ifKept(wake), { signal })
  document.addEventListener('freeze', sleep, { signal })
  document.addEventListener('resume', wake, { signal })
  return () => stopping.abort()
}
