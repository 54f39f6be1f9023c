// rxjs: operators, schedulers and errors.

import {
  catchError,
  concatMap,
  delay,
  from,
  interval,
  map,
  of,
  reduce,
  Subject,
  switchMap,
  take,
  throwError,
  toArray,
  zip,
} from 'rxjs';

from([1, 2, 3])
  .pipe(
    concatMap((n) => of(n * 2).pipe(delay(1))),
    toArray(),
  )
  .subscribe((list) => console.log('concat', list));
interval(2)
  .pipe(
    take(4),
    reduce((a, b) => a + b),
  )
  .subscribe((sum) => console.log('sum', sum));
zip(of('a', 'b'), from([1, 2]))
  .pipe(map(([x, y]) => x + y))
  .subscribe({ next: (v) => console.log(v), complete: () => console.log('done') });
throwError(() => new Error('no'))
  .pipe(catchError((error) => of(error.message)))
  .subscribe(console.log);
const subject = new Subject();
subject.pipe(switchMap((n) => of(n, n + 1))).subscribe((n) => console.log('switched', n));
subject.next(10);
subject.next(20);
