import { ensurePackages, run } from './install.mjs'

ensurePackages()
console.log('Building mayfly …')
if (!run('node', ['scripts/build.mjs'])) process.exit(1)

const { buildDemo, serveDemo } = await import('./demo.mjs')
const { findBrowser } = await import('./browser.mjs')

/** Data and service workers stay with an address: not at the one that every preview of vite has. */
const PORT = 4680

console.log('Building the demo …')
await buildDemo()
const server = await serveDemo({ port: PORT, open: hasScreen() })
console.log('\nmayfly’s demo is at:')
server.printUrls()
if (!hasScreen()) console.log('  There is no screen here: open that address in a browser. Ctrl+C ends the demo.')
if (!findBrowser()) {
  console.log(
    '  If you have no browser yet, install Chromium, Chrome, Firefox or Safari (on Debian: apt-get install chromium).',
  )
}

function hasScreen() {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER } = process.env
  return BROWSER !== 'none' && (process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY))
}
