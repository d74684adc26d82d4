import { element, write } from '../lib/dom.js'
import { installPrompt } from '../lib/install.js'

/** Makes the page work without a network. */
export function goOffline(): void {
  const chip = element('#offline-chip', HTMLElement)
  const show = async () => {
    chip.classList.toggle('good', true)
    write(chip, (await isOnline()) ? 'Works offline' : 'Offline, and works')
  }
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) {
    write(chip, 'Needs the network')
    return
  }
  navigator.serviceWorker.register('./service-worker.js').then(
    async () => {
      await navigator.serviceWorker.ready
      addEventListener('online', () => void show())
      addEventListener('offline', () => void show())
      await show()
    },
    () => write(chip, 'Needs the network'),
  )
}

/** A button to install the page with, for as long as it can be. */
export function offerInstall(): void {
  const item = element('#install-chip', HTMLElement)
  installPrompt.watch((prompt) => (item.hidden = !prompt))
  element('#install', HTMLButtonElement).addEventListener('click', () => void installPrompt.get()?.prompt())
}

/** The browser knows only whether there is some network. The service worker leaves this address to the real one. */
async function isOnline(): Promise<boolean> {
  if (!navigator.onLine) return false
  const answer = fetch('./?online', { method: 'HEAD', cache: 'no-store' })
  return answer.then(
    () => true,
    () => false,
  )
}
