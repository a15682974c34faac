import { join } from 'node:path'
import { fileStore } from '../../src/store/files/file-store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { storeContract } from '../contract/store.ts'
import { tempFolder } from './temp.ts'

const folder = tempFolder()
let count = 0

storeContract('files', () => {
  const home = join(folder, String(++count))
  return { store: fileStore(home), same: fileStore(home) }
})

storeContract('memory', () => {
  const store = memoryStore()
  return { store, same: store }
})
