import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plugin } from 'vite'

/** A network takes its time; what is cached does not. In milliseconds. */
const LATENCY = 600

const SKIES = ['clear', 'cloudy', 'drizzle', 'fog', 'rain', 'sun', 'wind']

/** A small API beside the page: `api/weather/Oslo` makes up the weather of the moment. */
export function weatherApi(): Plugin {
  return {
    name: 'weather-api',
    configureServer: (server) => void server.middlewares.use('/api/weather', answer),
    configurePreviewServer: (server) => void server.middlewares.use('/api/weather', answer),
  }
}

function answer({ url = '/' }: IncomingMessage, response: ServerResponse): void {
  const city = decodeURIComponent(url.slice(1).split('?')[0] ?? '')
  setTimeout(() => {
    const weather = {
      city,
      celsius: Math.round((8 + 18 * Math.random()) * 10) / 10,
      sky: SKIES[Math.floor(Math.random() * SKIES.length)],
      // Now, for the cache counts from when the answer comes.
      measuredAt: Date.now(),
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(weather))
  }, LATENCY)
}
