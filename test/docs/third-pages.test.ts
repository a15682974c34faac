import { readPages } from './readers-machine.ts'

readPages(2)
