import { cachedFetch, sourceOf } from 'mayfly/fetch'
import { element, write } from '../lib/dom.js'
import { plural } from '../lib/words.js'
import { store } from '../store.js'
import { Place } from './place.js'
import type { Weather } from './place.js'

const CITIES = ['Bergen', 'Lisbon', 'Naples', 'Oslo', 'Prague', 'Tartu']

/** In seconds. */
const TTL = 4
const STALE = 4
const OFFLINE = 60 * 60

/** How often the list is asked for again, in milliseconds. */
const AGAIN = 1000

/** A list from a small API, through the cache. */
export function showApi(): void {
  const list = element('#weather', HTMLElement)
  const traffic = element('#traffic', HTMLElement)
  const cut = element('#cut', HTMLInputElement)
  const keepAsking = element('#keep-asking', HTMLInputElement)
  const places = CITIES.map((city) => new Place(city, TTL, TTL + STALE))
  let [asked, sent, failed] = [0, 0, 0]

  const fetchWeather = cachedFetch(store.responses, {
    ttl: TTL,
    staleWhileRevalidate: STALE,
    staleIfError: OFFLINE,
    fetch: async (input, init) => {
      sent++
      try {
        if (cut.checked) throw new TypeError('The network is cut.')
        return await fetch(input, init)
      } catch (error) {
        failed++
        throw error
      }
    },
    // A refresh that failed behind is no alarm: the mark says how old the answer is.
    onError: () => undefined,
  })

  const load = async (place: Place) => {
    const started = performance.now()
    asked++
    try {
      const response = await fetchWeather(new URL(`api/weather/${place.city}`, document.baseURI))
      const source = sourceOf(response) ?? 'network'
      if (!response.ok) throw new TypeError(`The API answers ${response.status}.`)
      place.show((await response.json()) as Weather, source, performance.now() - started)
    } catch {
      place.fail()
    }
    const went = `${count(sent)} went to the network${failed > 0 ? `, where ${count(failed)} failed` : ''}`
    write(traffic, `${plural(asked, 'request')} made: ${went}.`)
  }
  const loadAll = () => Promise.all(places.map(load))

  list.append(...places.map((place) => place.element))
  element('#load', HTMLButtonElement).addEventListener('click', () => void loadAll())
  cut.addEventListener('change', () => void loadAll())

  let isSeen = false
  new IntersectionObserver(([entry]) => (isSeen = entry?.isIntersecting ?? false)).observe(list)
  const round = () => {
    const isWanted = keepAsking.checked && isSeen && document.visibilityState === 'visible'
    void (isWanted ? loadAll() : Promise.resolve()).finally(() => setTimeout(round, AGAIN))
  }
  void loadAll().finally(round)
}

const count = (n: number) => (n === 0 ? 'none' : n.toLocaleString('en-GB'))
