import { afterEach, beforeEach } from 'vitest'
import { resetClock } from './clock.js'
import { closeStores } from './stores.js'

beforeEach(resetClock)
afterEach(closeStores)
