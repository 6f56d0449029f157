/** The same object, but every call of a function that is reached through it is counted. */
export function counted<Target extends object>(target: Target, onCall: () => void): Target {
  return new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name, inner);
      if (typeof value === 'function') {
        return (...given: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(value, inner, given);
          if (!(answer instanceof Promise) && answer instanceof Object) return counted(answer, onCall);
          onCall();
          return answer;
        };
      }
      return value instanceof Object ? counted(value, onCall) : value;
    },
  });
}
