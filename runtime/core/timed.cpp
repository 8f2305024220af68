// A run whose launches are timed one by one.
// SPDX-License-Identifier: Apache-2.0
//
// On a GPU the launches are replayed from a graph that records an event between them: the host,
// which takes longer to launch a kernel than a short kernel takes, has no part in it. Events have a
// cost of their own, which is reported as the floor: what an empty kernel shows in the same place.
// Devices without graphs run the launches once, each between two events.
#include "runtime/core/context.h"

#include <algorithm>

namespace cameo::runtime {
namespace {

// Launches timed by one graph.
constexpr size_t kTimedTogether = 1000;
constexpr size_t kFloorIntervals = 16;

// Does nothing. The driver compiles it for the GPU at hand.
constexpr char kEmptyKernel[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry cameo_nothing() { ret; }\n";

// Given back with their owner.
class Events : public std::vector<Event> {
public:
  explicit Events(Device &device) : device(device) {}
  ~Events() {
    for (Event event : *this)
      (void)device.destroyEvent(event);
  }
  Status create(size_t count) {
    for (size_t i = size(); i < count; ++i) {
      Event event = nullptr;
      CAMEO_RETURN_IF_ERROR(device.createEvent(event));
      push_back(event);
    }
    return {};
  }

private:
  Device &device;
};

// Two events, by index.
struct Interval {
  size_t begin, end;
};

// Of times in milliseconds.
struct Middle {
  double median = 0, spread = 0; // between the quartiles
};

Middle middleOf(std::vector<float> times) {
  std::sort(times.begin(), times.end());
  size_t count = times.size();
  return {(times[(count - 1) / 2] + times[count / 2]) / 2.0,
          double(times[count - 1 - count / 4]) - times[count / 4]};
}

// A graph that is replayed for the times between its events.
class TimedGraph {
public:
  explicit TimedGraph(Device &device) : device(device) {}
  ~TimedGraph() {
    if (graph)
      (void)device.destroyGraph(graph);
  }

  // `add` puts the work and the events in.
  Status create(const std::function<Status(Graph)> &add) {
    CAMEO_RETURN_IF_ERROR(device.createGraph(graph));
    CAMEO_RETURN_IF_ERROR(add(graph));
    return device.instantiate(graph);
  }

  // All of an interval's times in a row.
  Status replay(Stream stream, uint32_t replays, const Events &events,
                const std::vector<Interval> &intervals, std::vector<std::vector<float>> &times) {
    times.assign(intervals.size(), {});
    // The first replay brings the graph to the device, and does not count.
    for (uint32_t i = 0; i <= replays; ++i) {
      CAMEO_RETURN_IF_ERROR(device.launchGraph(graph, stream));
      CAMEO_RETURN_IF_ERROR(device.synchronize(stream));
      for (size_t k = 0; i && k < intervals.size(); ++k) {
        float time = 0;
        CAMEO_RETURN_IF_ERROR(
            device.elapsed(events[intervals[k].begin], events[intervals[k].end], time));
        times[k].push_back(time);
      }
    }
    return {};
  }

private:
  Device &device;
  Graph graph = nullptr;
};

// Events around launches: where a launch follows a launch, the end of one is the beginning of the
// other. The number of events is returned.
size_t placeEvents(const WorkList &work, std::vector<Interval> &intervals) {
  size_t count = 0;
  bool follows = false;
  for (const Step &step : work.steps) {
    if (step.kind == Step::Tap)
      continue;
    bool launch = step.kind == Step::Launch;
    if (launch && !follows)
      ++count;
    if (launch)
      intervals.push_back({count - 1, count});
    count += launch;
    follows = launch;
  }
  return count;
}

// An empty kernel in a module of its own.
class EmptyKernel {
public:
  explicit EmptyKernel(Device &device) : device(device) {}
  ~EmptyKernel() {
    if (module)
      (void)device.unloadModule(module);
  }
  Status load() {
    CAMEO_RETURN_IF_ERROR(
        device.loadModule({CAMEO_SECTION_PTX, 75, 0, kEmptyKernel, sizeof kEmptyKernel}, module));
    return device.findKernel(module, {"cameo_nothing", "", {32, 1, 1}, 0, 0, nullptr, 0}, kernel);
  }
  Status addTo(Graph graph) {
    GraphNode node = nullptr;
    return device.addLaunch(graph, {kernel, {1, 1, 1}, {32, 1, 1}, 0, nullptr}, node);
  }

private:
  Device &device;
  Module module = nullptr;
  Kernel kernel = nullptr;
};

// What is shown for a launch that does nothing.
Status timeFloor(Device &device, Stream stream, uint32_t replays, bool kernel, double &floor) {
  EmptyKernel empty(device);
  if (kernel)
    CAMEO_RETURN_IF_ERROR(empty.load());
  Events events(device);
  CAMEO_RETURN_IF_ERROR(events.create(kFloorIntervals + 1));
  TimedGraph graph(device);
  CAMEO_RETURN_IF_ERROR(graph.create([&](Graph target) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (i && kernel)
        CAMEO_RETURN_IF_ERROR(empty.addTo(target));
      CAMEO_RETURN_IF_ERROR(device.addRecord(target, events[i]));
    }
    return Status();
  }));
  std::vector<Interval> intervals;
  for (size_t i = 0; i < kFloorIntervals; ++i)
    intervals.push_back({i, i + 1});
  std::vector<std::vector<float>> times;
  CAMEO_RETURN_IF_ERROR(graph.replay(stream, replays, events, intervals, times));
  std::vector<float> all;
  for (const std::vector<float> &each : times)
    all.insert(all.end(), each.begin(), each.end());
  floor = middleOf(all).median;
  return {};
}

} // namespace

// A run of all segments, each launch between two events. A graph replayed alone would not do where a
// segment writes over what it has read.
Status Context::timeRun(std::deque<LaunchStep> &steps, std::vector<LaunchTiming> &timings,
                        std::vector<WaitTiming> &waits) {
  Events events(device());
  std::string fetched; // at the end of the segment before
  CAMEO_RETURN_IF_ERROR(forEachSegment([&](Prepared &segment) {
    size_t first = timings.size();
    if (first && (waits.empty() || waits.back().launches != first))
      waits.push_back({first, fetched, 0, 0});
    fetched = segment.work.fetches ? segment.work.fetch.source.name : "";
    // The segment may be gone when the run is over.
    for (const LaunchStep &step : segment.work.launches)
      timings.push_back({&plan().kernels()[step.kernel], &steps.emplace_back(step), 0, 0, 0});
    CAMEO_RETURN_IF_ERROR(events.create(2 * timings.size()));
    return segment.enqueueSteps(current, [&](size_t launch, bool after) {
      return device().record(events[2 * (first + launch) + after], current);
    });
  }));
  CAMEO_RETURN_IF_ERROR(device().synchronize(current));
  for (size_t i = 0; i < timings.size(); ++i) {
    float start = 0, duration = 0;
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[0], events[2 * i], start));
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[2 * i], events[2 * i + 1], duration));
    timings[i].start = start;
    timings[i].duration = duration;
  }
  if (!waits.empty() && waits.back().launches == timings.size())
    waits.pop_back(); // nothing comes behind it
  for (WaitTiming &wait : waits) {
    const LaunchTiming &before = timings[wait.launches - 1];
    wait.duration = timings[wait.launches].start - before.start - before.duration;
  }
  return {};
}

// Medians of whole runs: all have the same launches, and the last one's are given.
Status Context::timeSegments(uint32_t runs, std::deque<LaunchStep> &steps,
                             std::vector<LaunchTiming> &timings, TimedRun &how) {
  std::vector<std::vector<float>> times; // of launches and, behind them, of waits
  for (uint32_t run = 0; run < runs; ++run) {
    steps.clear();
    timings.clear();
    std::vector<WaitTiming> waits;
    if (run)
      takeOutputs(work());
    CAMEO_RETURN_IF_ERROR(timeRun(steps, timings, waits));
    // Memory that has grown in one run is there in the next one.
    if (times.size() != timings.size() + waits.size() || waits.size() != how.waitTimings.size())
      times.assign(timings.size() + waits.size(), {});
    for (size_t i = 0; i < times.size(); ++i)
      times[i].push_back(
          float(i < timings.size() ? timings[i].duration : waits[i - timings.size()].duration));
    how.waitTimings = std::move(waits);
  }
  how.runs = times.empty() ? runs : uint32_t(times.front().size());
  how.waits = counts.waits;
  if (how.runs < 2)
    return {};
  for (size_t i = 0; i < how.waitTimings.size(); ++i) {
    Middle middle = middleOf(times[timings.size() + i]);
    how.waitTimings[i].duration = middle.median;
    how.waitTimings[i].spread = middle.spread;
  }
  double start = 0;
  size_t wait = 0;
  for (size_t i = 0; i < timings.size(); ++i) {
    if (wait < how.waitTimings.size() && how.waitTimings[wait].launches == i)
      start += how.waitTimings[wait++].duration;
    Middle middle = middleOf(times[i]);
    timings[i].start = start;
    timings[i].duration = middle.median;
    timings[i].spread = middle.spread;
    start += middle.median;
  }
  return {};
}

// Launches `first` to `last`, of which each has its own interval; or the time of all together.
Status Context::timeRange(size_t first, size_t last, bool together, uint32_t replays,
                          std::vector<std::vector<float>> &times) {
  std::vector<Interval> intervals;
  size_t count = placeEvents(work(), intervals);
  Events events(device());
  CAMEO_RETURN_IF_ERROR(events.create(count));
  auto isOwn = [&](size_t launch) {
    return launch == 0 || intervals[launch].begin != intervals[launch - 1].end;
  };
  TimedGraph graph(device());
  std::vector<GraphNode> nodes;
  CAMEO_RETURN_IF_ERROR(graph.create([&](Graph target) {
    return active->addSteps(target, nodes, [&](size_t launch, bool after) {
      bool wanted = after ? together ? launch == last : launch >= first && launch <= last
                    : together
                        ? launch == first
                        : launch == first || (launch > first && launch <= last && isOwn(launch));
      const Interval &interval = intervals[launch];
      return wanted ? device().addRecord(target, events[after ? interval.end : interval.begin])
                    : Status();
    });
  }));
  std::vector<Interval> asked(intervals.begin() + first, intervals.begin() + last + 1);
  if (together)
    asked = {{intervals[first].begin, intervals[last].end}};
  return graph.replay(current, replays, events, asked, times);
}

Status Context::timeReplays(uint32_t replays, std::vector<LaunchTiming> &timings, TimedRun &how) {
  std::vector<std::vector<float>> times;
  double start = 0;
  for (size_t first = 0; first < timings.size(); first += kTimedTogether) {
    size_t last = std::min(first + kTimedTogether, timings.size()) - 1;
    CAMEO_RETURN_IF_ERROR(timeRange(first, last, false, replays, times));
    for (size_t i = first; i <= last; ++i) {
      Middle middle = middleOf(times[i - first]);
      timings[i].start = start;
      timings[i].duration = middle.median;
      timings[i].spread = middle.spread;
      start += middle.median;
    }
  }
  how.replays = replays;
  return {};
}

// What the times are to be compared with.
Status Context::timeReference(uint32_t replays, size_t launches, TimedRun &how) {
  std::vector<std::vector<float>> times;
  CAMEO_RETURN_IF_ERROR(timeRange(0, launches - 1, true, replays, times));
  how.whole = middleOf(times[0]).median;
  how.floorIsKernel = timeFloor(device(), current, replays, true, how.floor).ok();
  if (!how.floorIsKernel)
    CAMEO_RETURN_IF_ERROR(timeFloor(device(), current, replays, false, how.floor));
  return {};
}

// Times replays of a graph; `how.replays` stays 0 if there are none.
Status Context::timeSteps(uint32_t replays, std::vector<LaunchTiming> &timings, bool wantsReference,
                          TimedRun &how) {
  discardOldContents();
  if (!graphsWork || !device().hasGraphs() || timings.empty())
    return {};
  Status status = timeReplays(replays, timings, how);
  if (status.ok() && wantsReference)
    status = timeReference(replays, timings.size(), how);
  // Launches can be enqueued even if no graph can be made of them.
  if (!status.ok()) {
    how = {};
    how.notReplayed = status.message();
    device().log.warning("times are those of one run, launch by launch: %s",
                         status.message().c_str());
  }
  return {};
}

Status Context::timeLaunches(uint32_t replays, std::deque<LaunchStep> &steps,
                             std::vector<LaunchTiming> &timings, bool wantsReference,
                             TimedRun &how) {
  CAMEO_RETURN_IF_ERROR(copyInputs());
  if (plan().hasSegments()) {
    how.notReplayed = "the run goes by values that it waits for";
  } else {
    for (const LaunchStep &step : work().launches)
      timings.push_back({&plan().kernels()[step.kernel], &step, 0, 0, 0});
    CAMEO_RETURN_IF_ERROR(timeSteps(replays, timings, wantsReference, how));
  }
  if (!how.replays) {
    timings.clear();
    // On devices without graphs times are those of the host, which repeating makes no better.
    bool repeats = plan().hasSegments() && device().hasGraphs();
    CAMEO_RETURN_IF_ERROR(
        timeSegments(repeats ? std::max<uint32_t>(replays, 1) : 1, steps, timings, how));
  }
  randomRuns += !options.repeatsRandom;
  return copyOutputs();
}

Status Context::runTimed(const std::function<void(const LaunchTiming &)> &callback,
                         uint32_t replays, TimedRun *how) {
  DeviceScope scope(device());
  CAMEO_RETURN_IF_ERROR(std::move(scope.status));
  CAMEO_RETURN_IF_ERROR(device().isCapturing(current, capturing));
  if (capturing)
    return failure(Code::InvalidArgument,
                   "launches cannot be timed while their stream is recorded");
  advanceStates();
  CAMEO_RETURN_IF_ERROR(prepare());
  if (plan().hasSegments())
    takeOutputs(work());
  CAMEO_RETURN_IF_ERROR(resolve());
  std::deque<LaunchStep> steps;
  std::vector<LaunchTiming> timings;
  TimedRun result;
  Status status = timeLaunches(replays, steps, timings, how != nullptr, result);
  if (how)
    *how = result;
  Status waited = device().synchronize(current);
  inFlight = inputsInFlight = false;
  CAMEO_RETURN_IF_ERROR(std::move(status));
  CAMEO_RETURN_IF_ERROR(std::move(waited));
  for (const LaunchTiming &timing : timings)
    callback(timing);
  return {};
}

// Without a graph that has all of a run.
Status Context::timeRuns(uint32_t together, uint32_t replays, const std::vector<Event> &events,
                         std::vector<float> &milliseconds) {
  auto enqueueSegment = [this](Prepared &segment) {
    return plan().hasSegments() ? compute(segment) : segment.enqueueSteps(current);
  };
  for (uint32_t replay = 0; replay < replays; ++replay) {
    CAMEO_RETURN_IF_ERROR(device().record(events[0], current));
    for (uint32_t i = 0; i < together; ++i) {
      takeOutputs(work());
      CAMEO_RETURN_IF_ERROR(forEachSegment(enqueueSegment));
    }
    CAMEO_RETURN_IF_ERROR(device().record(events[1], current));
    CAMEO_RETURN_IF_ERROR(device().synchronize(current));
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[0], events[1], milliseconds.emplace_back()));
  }
  return {};
}

Status Context::timeTogether(uint32_t together, uint32_t replays,
                             std::vector<float> &milliseconds) {
  DeviceScope scope(device());
  CAMEO_RETURN_IF_ERROR(std::move(scope.status));
  CAMEO_RETURN_IF_ERROR(prepare());
  CAMEO_RETURN_IF_ERROR(resolve());
  if (drawsRandom) {
    CAMEO_RETURN_IF_ERROR(copyRandomState());
    CAMEO_RETURN_IF_ERROR(device().synchronize(current));
  }
  Events events(device());
  CAMEO_RETURN_IF_ERROR(events.create(2));
  milliseconds.clear();
  if (graphsWork && device().hasGraphs() && !plan().hasSegments()) {
    TimedGraph graph(device());
    std::vector<GraphNode> nodes;
    CAMEO_RETURN_IF_ERROR(graph.create([&](Graph target) {
      CAMEO_RETURN_IF_ERROR(device().addRecord(target, events[0]));
      for (uint32_t i = 0; i < together; ++i)
        CAMEO_RETURN_IF_ERROR(active->addSteps(target, nodes));
      return device().addRecord(target, events[1]);
    }));
    std::vector<std::vector<float>> times;
    CAMEO_RETURN_IF_ERROR(graph.replay(current, replays, events, {{0, 1}}, times));
    milliseconds = std::move(times[0]);
    return {};
  }
  return timeRuns(together, replays, events, milliseconds);
}

} // namespace cameo::runtime
