"""A scheduler of tasks that pass packets: methods and attributes of small objects."""

ROUNDS = 12_000


class Packet:
    def __init__(self, kind):
        self.kind, self.value, self.next = kind, 0, None


class Task:
    def __init__(self, scheduler, name, priority):
        self.scheduler, self.name, self.priority = scheduler, name, priority
        self.queue, self.handled = None, 0
        scheduler.tasks.append(self)

    def receive(self, packet):
        packet.next, self.queue = self.queue, packet

    def take(self):
        packet = self.queue
        if packet is not None:
            self.queue, packet.next = packet.next, None
        return packet

    def is_ready(self):
        return self.queue is not None

    def step(self):
        packet = self.take()
        self.handled += 1
        packet.value = (packet.value * 31 + self.priority) % 65_521
        self.scheduler.send(packet)


class Device(Task):
    def step(self):
        super().step()
        self.scheduler.finished += 1


class Scheduler:
    def __init__(self):
        self.tasks, self.finished = [], 0

    def send(self, packet):
        place = packet.value % len(self.tasks)
        self.tasks[place].receive(packet)

    def run(self, rounds):
        for _ in range(rounds):
            ready = [task for task in self.tasks if task.is_ready()]
            max(ready, key=lambda task: (task.priority * 7 + task.handled * 13) % 101).step()


def run():
    scheduler = Scheduler()
    for name in range(6):
        (Device if name % 2 else Task)(scheduler, name, name * 10 + 1)
    for kind in range(10):
        scheduler.tasks[kind % 6].receive(Packet(kind))
    scheduler.run(ROUNDS)
    return scheduler.finished, [task.handled for task in scheduler.tasks]
