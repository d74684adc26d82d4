import { value } from './value.js'

interface InstallPrompt extends Event {
  prompt(): Promise<unknown>
}

/** What the browser gives once the page can be installed, and until it is. That may be before anything else is ready. */
export const installPrompt = value<InstallPrompt | undefined>(undefined)

addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  installPrompt.set(event as InstallPrompt)
})
addEventListener('appinstalled', () => installPrompt.set(undefined))
