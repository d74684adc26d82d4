import { element, write } from '../lib/dom.js'

interface InstallPrompt extends Event {
  prompt(): Promise<unknown>
}

/** Makes the page work without a network, and lets it be installed. */
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

  const item = element('#install-chip', HTMLElement)
  const button = element('#install', HTMLButtonElement)
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    item.hidden = false
    button.onclick = () => void (event as InstallPrompt).prompt()
  })
  addEventListener('appinstalled', () => (item.hidden = true))
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
