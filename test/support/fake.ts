import 'fake-indexeddb/auto'
import './real.js'
