/** Something the one who asked can mend: said to them as it is. */
export class CrewError extends Error {
  override name = 'CrewError'
}
