/** The worker's entry for chaos: the page moves its clock before each call. */
let offset = 0
const wall = Date.now.bind(Date)
Date.now = () => wall() + offset

addEventListener('message', (event) => {
  if (event.data?.offset === undefined) return
  offset = event.data.offset
  event.stopImmediatePropagation()
})

await import('/dist/mayfly-worker.js')
