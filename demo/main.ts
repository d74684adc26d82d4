// First, for it listens for what comes but once.
import { goOffline, offerInstall } from './parts/offline.js'
import { showApi } from './parts/api.js'
import { watchBlocking } from './parts/blocking.js'
import { showCollections } from './parts/collections.js'
import { showDisk } from './parts/disk.js'
import { offer, showDocuments } from './parts/documents.js'
import { CUSTOMERS } from './parts/examples.js'
import { showFeed } from './parts/feed.js'
import { showMatrix } from './parts/matrix.js'
import { showSpeed } from './parts/speed.js'
import { showTabs } from './parts/tabs.js'
import { watchWriting, welcome } from './parts/writing.js'
import { act } from './lib/notice.js'
import { startSampling } from './lib/samples.js'
import { readDefaults } from './lib/state.js'

offer(CUSTOMERS)
showCollections()
showMatrix()
showDocuments()
watchWriting()
showDisk()
watchBlocking()
showTabs()
showFeed()
showApi()
showSpeed()
startSampling()
act(async () => {
  await readDefaults()
  await welcome()
})
offerInstall()
goOffline()
