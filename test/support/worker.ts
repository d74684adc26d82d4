import ownUrl from '../../dist/mayfly-worker.js?worker&url'
import clockUrl from './clock-worker.ts?worker&url'
import './real.js'
import { moveClocksOfWorkers } from './workers.js'

moveClocksOfWorkers(clockUrl, ownUrl)
