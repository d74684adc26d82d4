await navigator.serviceWorker.register('./sw.js', { type: 'module' })
await navigator.serviceWorker.ready
const response = await fetch('/api/time')
document.querySelector('h1').textContent = await response.text()
document.body.dataset.done = 'yes'
