import 'mayfly/worker'
import { watchSlices } from './lib/probe.js'

watchSlices()
